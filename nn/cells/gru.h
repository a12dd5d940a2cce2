// Gated recurrent unit. Cho et al. 2014.
//
//   r, z = s(W x + U h + b)         n = tanh(W x + U (r h) + b)
//   h' = z h + (1 - z) n
//
// z keeps the old state, as in PyTorch and cuDNN; Maupome & Meurs, Luchetta, and Wu et al. 2016 write 1 - z
// for it. Gates are stacked r z n: weight_ih is W [3H, I], weight_hh is U [3H, H]. Another join replaces the
// sum W x + U h + b. Another recurrent input m [B, M] replaces h in the gates and in the candidate, but not
// in h', which keeps h itself; r is multiplied with m and so has M units: W is [M + 2H, I], U is [M + 2H, M].
// Luchetta (2)-(5) has no biases: GateBiasSettings. The gate equations are GruReset, GruUpdate and
// GruResetAfter in nn/cells/gates.h. Next: nn/cells/multiplicative.h.
#pragma once

#include <memory>

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

template <class Join = Sum, class RecurrentInput = PreviousState>
struct Gru : Cell {
  using Settings = SettingsOfParts<Join, RecurrentInput>;
  static_assert(!Join::looks_across_rows, "batch normalisation is for the gates of an LSTM");

  using Cell::Cell;

  State step(StepInputs& x, const State& previous) override {
    const int64_t H = hidden(), candidate = M + H;
    const Variable& seen = past(x, previous);
    const std::vector<Variable> gate = split_apart(join(x, W, seen, U, 0, candidate), {M, H});
    const Variable& r = gate[0];
    const Variable& z = gate[1];
    const Variable n = join(x, W, pointwise(GruReset{}, r, seen), U, candidate, candidate + H);
    return {pointwise_into(x.out, GruUpdate{}, z, n, previous.h_unmasked())};
  }

  const int64_t M = RecurrentInput::width(options);
  const GateRows gates{M, hidden(), hidden()};
  Join join{*this, {gates}};
  Projection W{*this, "weight_ih", gates, join.biases_of_input(), RecurrentInput::reads};
  RecurrentInput past{*this};
  Recurrent U{*this, RecurrentInput::weight_name, gates, M};
};

/// The GRU of PyTorch's nn.GRU and cuDNN: n = tanh(W x + b + r (U h + b')) with two biases; with one bias, b
/// alone.
struct GruWithResetAfter : Cell {
  using Settings = SettingsOf<GateBiasSettings>;
  using Cell::Cell;

  State step(StepInputs& x, const State& previous) override {
    const std::vector<Variable> from_x = split(x.take(W), gates);
    const std::vector<Variable> from_h =
        split(biases.recurrent ? linear(previous.h, U, {*biases.recurrent}) : linear(previous.h, U), gates);
    return {pointwise_into(x.out, GruResetAfter{}, from_x[0], from_x[1], from_x[2], from_h[0], from_h[1],
                           from_h[2], previous.h_unmasked())};
  }

  const GateRows gates = GateRows(3, hidden());
  GateBiases biases{*this, {gates}};
  Projection W{*this, "weight_ih", gates, biases.of_input()};
  Recurrent U{*this, "weight_hh", gates, hidden()};
};

// Minimal gated unit. Zhou, Wu, Zhang & Zhou 2016, "Minimal Gated Unit for Recurrent Neural Networks"
// (arXiv 1603.09420).
//
//   f = s(W x + U h + b)            n = tanh(W x + U (f h) + b)
//   h' = (1 - f) h + f n
//
// A GRU whose one gate f is both the reset gate and the update gate; f lets the candidate in, where z of
// the GRU keeps the old state. Gates are stacked f n: weight_ih is W [2H, I], weight_hh is U [2H, H].
// s is the sigmoid.
//
// Heck & Salem 2017, "Simplified Minimal Gated Unit Variations for Recurrent Neural Networks" (arXiv
// 1701.03452), leave out parts of the gate; the rest is the same:
//
//   MGU1  f = s(U h + b)            MGU2  f = s(U h)            MGU3  f = s(b)
//
// A variant does not declare the parameters that it does not use: W is [H, I], of n alone, and in MGU3 U is
// [H, H], too. GateBiasSettings is about the biases of n; f has one bias at most, bias_f [H].

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
  using Cell::Cell;

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
  GateBiases biases{*this, {of_x}};             // of the same gates as W
  std::unique_ptr<Parameter> b_f = make_b_f();  // of MGU1 and MGU3; null if there are no biases
  Projection W{*this, "weight_ih", of_x, biases.all()};
  Recurrent U{*this, "weight_hh", of_h, hidden()};

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
