// Long short-term memory. Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000.
//
//   i, f, o = s(W x + U h + b)      g = tanh(W x + U h + b)
//   c' = f c + i g                  h' = o tanh(c')
//
// Gates are stacked i f g o: weight_ih is W [4H, I], weight_hh is U [4H, H], as in PyTorch's nn.LSTM. Maupome
// & Meurs (7) write h' = o s(c'): that is LstmGatesSigmoid. Another join replaces the sum W x + U h + b,
// another recurrent input replaces h. With a join that normalises the cell state, as layer and batch
// normalisation do, h' = o tanh(norm(c')), and the state keeps c'. The gate equations are LstmGates in
// nn/cells/gates.h. Next: nn/cells/gru.h.
#pragma once

#include <type_traits>

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

/// The next state from the pre-activations of stacked gates [B, 4H] and c [B, H]; its h is computed at
/// `out`, if that is defined.
template <class Gates = LstmGates>
State lstm_state(const Variable& z, const Variable& c, const Tensor& out = {}) {
  const int64_t H = c.shape().columns();
  const std::vector<Variable> gate = split(z, {H, H, H, H});
  const auto next = pointwise_outputs_into(out, Gates{}, gate[0], gate[1], gate[2], gate[3], c);
  return {next[0], next[1]};
}

template <class Join = Sum, class RecurrentInput = PreviousState, class Gates = LstmGates>
struct Lstm : Cell {
  using Settings = SettingsOfParts<Join, RecurrentInput, ForgetGate>;
  static_assert(!Join::normalizes_cell_state || std::is_same_v<Gates, LstmGates>,
                "a join that normalises the cell state has the output activation of LstmGates");

  using Cell::Cell;

  std::vector<StateTensor> state_tensors() const override { return {{"h", hidden()}, {"c", hidden()}}; }
  bool looks_across_rows() const override { return Join::looks_across_rows; }

  State step(StepInputs& x, const State& previous) override {
    const Variable& seen = past(x, previous);
    const Variable z = join(x, W, seen, U, 0, 4 * hidden());
    if constexpr (!Join::normalizes_cell_state) {
      return lstm_state<Gates>(z, previous.c, x.out);
    } else {
      const std::vector<Variable> gate = split(z, gates);
      const Variable c = pointwise(LstmCellState{}, gate[0], gate[1], gate[2], previous.c);
      return {pointwise_into(x.out, LstmOutput{}, gate[3], join.cell_state(x, c)), c};
    }
  }

  const GateRows gates = GateRows(4, hidden());
  Join join{*this, {gates, 1}};
  Projection W{*this, "weight_ih", gates, join.biases_of_input(), RecurrentInput::reads};
  RecurrentInput past{*this};
  Recurrent U{*this, RecurrentInput::weight_name, gates, RecurrentInput::width(options)};
};

}  // namespace rondo
