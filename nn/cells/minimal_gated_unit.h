// Minimal gated unit. Zhou, Wu, Zhang & Zhou 2016, "Minimal Gated Unit for Recurrent Neural Networks"
// (arXiv 1603.09420).
//
//   f = s(W x + U h + b)            n = tanh(W x + U (f h) + b)
//   h' = (1 - f) h + f n
//
// A GRU whose one gate f is both the reset gate and the update gate; f lets the candidate in, where z of
// nn/cells/gru.h keeps the old state. Gates are stacked f n: weight_ih is W [2H, I], weight_hh is U [2H, H].
// s is the sigmoid.
#pragma once

#include "nn/cells/join.h"

namespace rondo {

struct MinimalGatedUnit : Cell {
  using Settings = SettingsOf<GateBiasSettings>;
  MinimalGatedUnit(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  const GateRows gates = GateRows(2, hidden());  // f, n
  GateBiases biases;
  Projection W;
  Recurrent U;
};

}  // namespace rondo
