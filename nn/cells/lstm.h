// Long short-term memory. Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000.
//
//   i, f, o = s(W x + U h + b)      g = tanh(W x + U h + b)
//   c' = f c + i g                  h' = o tanh(c')
//
// Gates are stacked i f g o: weight_ih is W [4H, I], weight_hh is U [4H, H], as in PyTorch's nn.LSTM. Maupome
// & Meurs (7) write h' = o s(c'): that is LstmSigmoid. Papers 001 (1) and 002 (9), (10), (13) have misprints
// in their indices. The gate equations are LstmGates in autograd/operators.h. Next: nn/cells/gru.h.
#pragma once

#include "nn/cells/cell.h"

namespace rondo {

/// What LSTMs share whatever their gates' output activation.
struct LstmBase : Cell {
  LstmBase(Module& parent, const std::string& suffix, const CellOptions& options);
  State initial_state(int64_t batch) const override;

  GateBiases biases;
  Projection z;
  Recurrent U;

 protected:
  template <class Gates>
  State gated_step(const StepInputs& x, const State& previous);
};

struct Lstm : LstmBase {
  using LstmBase::LstmBase;
  State step(const StepInputs& x, const State& previous) override;
};

struct LstmSigmoid : LstmBase {
  using LstmBase::LstmBase;
  State step(const StepInputs& x, const State& previous) override;
};

}  // namespace rondo
