// Minimal gated unit. Zhou, Wu, Zhang & Zhou 2016, "Minimal Gated Unit for Recurrent Neural Networks"
// (arXiv 1603.09420).
//
//   f = s(W x + U h + b)            n = tanh(W x + U (f h) + b)
//   h' = (1 - f) h + f n
//
// A GRU whose one gate f is both the reset gate and the update gate; f lets the candidate in, where z of
// nn/cells/gru.h keeps the old state. Gates are stacked f n: weight_ih is W [2H, I], weight_hh is U [2H, H].
// s is the sigmoid.
//
// Heck & Salem 2017, "Simplified Minimal Gated Unit Variations for Recurrent Neural Networks" (arXiv
// 1701.03452), leave out parts of the gate; the rest is the same:
//
//   MGU1  f = s(U h + b)            MGU2  f = s(U h)            MGU3  f = s(b)
//
// A variant does not declare the parameters that it does not use: W is [H, I], of n alone, and in MGU3 U is
// [H, H], too. GateBiasSettings is about the biases of n; f has one bias at most, bias_f [H].
#pragma once

#include <memory>

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

enum class MguGate { full, mgu1, mgu2, mgu3 };
inline std::vector<std::string> names_of(MguGate) { return {"full", "mgu1", "mgu2", "mgu3"}; }

struct MinimalGatedUnitSettings {
  MguGate mgu_gate = MguGate::full;
};
inline Keys keys_of(MinimalGatedUnitSettings& it) {
  return {{"mgu_gate", choice(it.mgu_gate),
           "what the forget gate is computed from. full: W x + U h + b; mgu1: U h + b; mgu2: U h; mgu3: b, "
           "where b is one bias (Heck & Salem 2017)"}};
}

struct MinimalGatedUnit : Cell {
  using Settings = SettingsOf<GateBiasSettings, MinimalGatedUnitSettings>;

  MinimalGatedUnit(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        biases(*this, {of_x}),
        b_f(make_b_f()),
        W(*this, "weight_ih", of_x, biases.all()),
        U(*this, "weight_hh", of_h, hidden()) {}

  State step(StepInputs& x, const State& previous) override {
    const Variable f = forget_gate(x, previous.h);
    const Variable filtered = pointwise(GruReset{}, f, previous.h);
    const int64_t x_rows = sum_of(of_x), h_rows = sum_of(of_h);  // n has the last of them
    const Variable n =
        add_linear(x.take(W, x_rows - hidden(), x_rows), filtered, U.rows(h_rows - hidden(), h_rows));
    return {pointwise_into(x.out, HighwayUpdate{}, n, f, previous.h_unmasked())};
  }

  const MguGate variant = settings<MinimalGatedUnitSettings>().mgu_gate;
  const GateRows of_x = GateRows(variant == MguGate::full ? 2 : 1, hidden());  // f, n; or n alone
  const GateRows of_h = GateRows(variant == MguGate::mgu3 ? 1 : 2, hidden());
  GateBiases biases;               // of the same gates as W
  std::unique_ptr<Parameter> b_f;  // of MGU1 and MGU3; null if there are no biases
  Projection W;
  Recurrent U;

 private:
  /// The pre-activation of f, [B, H]; in MGU3 [H].
  Variable forget_gate(StepInputs& x, const Variable& h) const {
    if (variant == MguGate::mgu3) return *b_f;
    const Variable U_f = U.rows(0, hidden());
    if (variant == MguGate::full) return add_linear(x.take(W, 0, hidden()), h, U_f);
    return b_f ? linear(h, U_f, {*b_f}) : linear(h, U_f);
  }

  std::unique_ptr<Parameter> make_b_f() {
    const bool has_biases = settings<GateBiasSettings>().biases > 0;
    check_input(has_biases || variant != MguGate::mgu3,
                "model.mgu_gate = \"mgu3\" has a forget gate of its bias alone, which model.biases = 0 "
                "leaves out: set model.biases to 1, or choose another model.mgu_gate");
    if (!has_biases || variant == MguGate::full || variant == MguGate::mgu2) return nullptr;
    return std::make_unique<Parameter>(*this, "bias_f", Shape{hidden()}, options.biases);
  }
};

}  // namespace rondo
