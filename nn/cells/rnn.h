// The simple recurrent network (Elman 1990).
//
//   h' = tanh(W x + U h + b)
//
// weight_ih is W [H, I], weight_hh is U [H, H], as in PyTorch's nn.RNN. Next: nn/cells/lstm.h.
#pragma once

#include "nn/cells/cell.h"

namespace rondo {

struct Rnn : Cell {
  Rnn(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  GateBiases biases;
  Projection z;
  Recurrent U;
};

/// With the identity in place of tanh.
struct LinearRnn : Rnn {
  using Rnn::Rnn;
  State step(StepInputs& x, const State& previous) override;
};

}  // namespace rondo
