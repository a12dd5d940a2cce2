// Gated recurrent unit. Cho et al. 2014.
//
//   r, z = s(W x + U h + b)         n = tanh(W x + U (r h) + b)
//   h' = z h + (1 - z) n
//
// z keeps the old state, as in PyTorch and cuDNN; papers 000, 002 and 004 write 1 - z for it. Gates are
// stacked r z n: weight_ih is W [3H, I], weight_hh is U [3H, H]. GruWithResetAfter is what PyTorch's nn.GRU
// and cuDNN compute: n = tanh(W x + b + r (U h + b')), with two biases. Paper 003 prints r and z as n x d;
// they are n x h. The gate equations are GruReset, GruUpdate and GruResetAfter in autograd/operators.h.
#pragma once

#include "nn/cells/cell.h"

namespace rondo {

struct Gru : Cell {
  Gru(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(const StepInputs& x, const State& previous) override;

  GateBiases biases;
  Projection x_gates;
  Recurrent U;
};

struct GruWithResetAfter : Cell {
  GruWithResetAfter(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(const StepInputs& x, const State& previous) override;

  Parameter input_bias, recurrent_bias;
  Projection x_gates;
  Recurrent U;
};

}  // namespace rondo
