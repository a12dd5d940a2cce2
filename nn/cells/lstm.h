// Long short-term memory. Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000.
//
//   i, f, o = s(W x + U h + b)      g = tanh(W x + U h + b)
//   c' = f c + i g                  h' = o tanh(c')
//
// Gates are stacked i f g o: weight_ih is W [4H, I], weight_hh is U [4H, H], as in PyTorch's nn.LSTM. Maupome
// & Meurs (7) write h' = o s(c'): that is LstmSigmoid. The gate equations are LstmGates in
// autograd/operators.h. Next: nn/cells/gru.h.
#pragma once

#include "nn/cells/cell.h"

namespace rondo {

/// The next state from the pre-activations of stacked gates [B, 4H] and c [B, H].
template <class Gates = LstmGates>
State lstm_state(const Variable& gates, const Variable& c) {
  const int64_t H = c.shape().columns();
  const auto gate = [&](int64_t k) { return gates.slice_columns(k * H, (k + 1) * H); };
  const auto next = pointwise_outputs(Gates{}, gate(0), gate(1), gate(2), gate(3), c);
  return {next[0], next[1]};
}
/// Zeros for h and c.
State lstm_initial_state(int64_t batch, int64_t hidden, Device device);

/// What LSTMs share whatever their gates' output activation.
struct LstmBase : Cell {
  LstmBase(Module& parent, const std::string& suffix, const CellOptions& options);
  State initial_state(int64_t batch) const override;

  GateBiases biases;
  Projection z;
  Recurrent U;
};

struct Lstm : LstmBase {
  using LstmBase::LstmBase;
  State step(StepInputs& x, const State& previous) override;
};

struct LstmSigmoid : LstmBase {
  using LstmBase::LstmBase;
  State step(StepInputs& x, const State& previous) override;
};

}  // namespace rondo
