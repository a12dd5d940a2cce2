// Multiplicative integration: W x and U h meet in a product. Wu et al. 2016 (3)-(4).
//
//   z = alpha (W x) (U h) + beta1 (U h) + beta2 (W x) + b
//
// in place of W x + U h + b, with vectors alpha, beta1, beta2 and b that are trained, a quadruple for each
// gate. alpha = 0 and beta1 = beta2 = 1 is the plain cell. Initial values: CellOptions::integration. One b
// per gate, whatever the options ask for. The gate equations are those of nn/cells/rnn.h, lstm.h and gru.h. s
// is the sigmoid.
#pragma once

#include "nn/cells/gru.h"
#include "nn/cells/lstm.h"

namespace rondo {

/// The join of the stacked gates of a cell, [G H].
struct Integration {
  Integration(Cell& cell, int64_t gates, const CellOptions& options, double forget_bias = 0);
  Variable operator()(const Variable& Wx, const Variable& Uh) const;
  /// Columns [begin, end) of the stacked gates alone; so are Wx and Uh.
  Variable operator()(const Variable& Wx, const Variable& Uh, int64_t begin, int64_t end) const;

  Parameter alpha, beta1, beta2;
  GateBiases b;
};

/// h' = tanh(z). weight_ih is W [H, I], weight_hh is U [H, H].
struct MiRnn : Cell {
  MiRnn(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  Integration z;
  Projection W;
  Recurrent U;
};

/// h' = z: without biases and with stochastic matrices the forward algorithm of a hidden Markov model
/// (section 4.1).
struct LinearMiRnn : MiRnn {
  using MiRnn::MiRnn;
  State step(StepInputs& x, const State& previous) override;
};

/// h' = tanh((W x) (U h) + b): alpha = 1 and beta1 = beta2 = 0, not trained (2).
struct SimpleMiRnn : Cell {
  SimpleMiRnn(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  GateBiases b;
  Projection W;
  Recurrent U;
};

/// i, f, o = s(z), g = tanh(z); c' = f c + i g, h' = o tanh(c'). Gates are stacked i f g o.
struct MiLstm : Cell {
  MiLstm(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;
  State initial_state(int64_t batch) const override { return lstm_initial_state(batch, hidden(), device()); }

  Integration z;
  Projection W;
  Recurrent U;
};

/// r, z = s(z of h), n = tanh(z of r h); h' = z h + (1 - z) n. Gates are stacked r z n, and z keeps the old
/// state (Wu et al. write 1 - z for it).
struct MiGru : Cell {
  MiGru(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  Integration joined;
  Projection W;
  Recurrent U;
};

}  // namespace rondo
