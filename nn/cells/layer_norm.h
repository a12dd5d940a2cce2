// Layer normalisation as a join. Ba, Kiros & Hinton 2016, the equations of LSTM and GRU in the
// supplement.
//
//   z = LN(W x; gamma_ih, bias_ih) + LN(U h; gamma_hh, bias_hh)
//
// instead of W x + U h + b, for the gates that are computed together: LN normalises each row over all of
// them, as the paper prints it. The paper's additional b is redundant and left out. In an LSTM h' = o
// tanh(LN(c'; gamma_c, beta_c)), and the state keeps c'. Gains start at 1, shifts at 0, plus the forget bias.
//
// The paper's GRU resets after the product (LayerNormGru):
//
//   r, z = s(LN(W x; gamma_ih, bias_ih) + LN(U h; gamma_hh, bias_hh))
//   n = tanh(LN(W x; gamma_in, bias_in) + r LN(U h; gamma_hn, bias_hn))
//   h' = z h + (1 - z) n                              z keeps the old state (the paper writes 1 - z for it)
//
// where _in and _hn are the last third of gamma_ih, bias_ih, gamma_hh and bias_hh.
#pragma once

#include <memory>

#include "autograd/operators/arithmetic.h"
#include "nn/cells/gates.h"
#include "nn/cells/join.h"
#include "nn/layers/normalization.h"

namespace rondo {

/// The join above.
class LayerNormSum {
 public:
  using Settings = SettingsOf<>;
  static constexpr bool normalizes_cell_state = true, looks_across_rows = false;

  LayerNormSum(Cell& cell, const StackedGates& gates)
      : gamma_ih_(cell, "gamma_ih", {gates.size()}, constant_values(1)),
        gamma_hh_(cell, "gamma_hh", {gates.size()}, constant_values(1)),
        shifts_(cell, gates, 2, constant_values(0)) {
    if (gates.forget_gate < 0) return;
    gamma_c_ = std::make_unique<Parameter>(cell, "gamma_c", Shape{cell.hidden()}, constant_values(1));
    beta_c_ = std::make_unique<Parameter>(cell, "beta_c", Shape{cell.hidden()}, constant_values(0));
  }

  std::vector<const Parameter*> biases_of_input() const { return {}; }
  Variable operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                      int64_t begin, int64_t end) const {
    return pointwise(LayerNormalizedSum{}, normalized_rows(x.take(W, begin, end)),
                     normalized_rows(linear(past, U.rows(begin, end))), gamma_ih_.rows(begin, end),
                     gamma_hh_.rows(begin, end), shifts_.input->rows(begin, end),
                     shifts_.recurrent->rows(begin, end));
  }
  /// LN(W x) alone and LN(U h) alone, for the pre-activations in rows [begin, end).
  Variable of_input(const Variable& Wx, int64_t begin, int64_t end) const {
    return layer_norm(Wx, gamma_ih_.rows(begin, end), shifts_.input->rows(begin, end));
  }
  Variable of_state(const Variable& Uh, int64_t begin, int64_t end) const {
    return layer_norm(Uh, gamma_hh_.rows(begin, end), shifts_.recurrent->rows(begin, end));
  }
  Variable cell_state(StepInputs&, const Variable& c) const { return layer_norm(c, *gamma_c_, *beta_c_); }

 private:
  Parameter gamma_ih_, gamma_hh_;
  GateBiases shifts_;
  std::unique_ptr<Parameter> gamma_c_, beta_c_;  // only in cells with a forget gate, which have a cell state
};

struct LayerNormGru : Cell {
  using Settings = SettingsOf<>;
  using Cell::Cell;

  State step(StepInputs& x, const State& previous) override {
    const int64_t H = hidden();
    const std::vector<Variable> gate = split_apart(join(x, W, previous.h, U, 0, 2 * H), {H, H});
    const Variable& r = gate[0];
    const Variable& z = gate[1];
    const Variable from_h = join.of_state(linear(previous.h, U.rows(2 * H, 3 * H)), 2 * H, 3 * H);
    const Variable n =
        join.of_input(x.take(W, 2 * H, 3 * H), 2 * H, 3 * H) + pointwise(GruReset{}, r, from_h);
    return {pointwise(GruUpdate{}, z, n, previous.h_unmasked())};
  }

  const GateRows gates = GateRows(3, hidden());
  LayerNormSum join{*this, {gates}};
  Projection W{*this, "weight_ih", gates};
  Recurrent U{*this, "weight_hh", gates, hidden()};
};

}  // namespace rondo
