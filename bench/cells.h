// Cells that the benchmark measures and Rondo does not have yet. Written like those of nn/cells/, where they
// are to move. s is the sigmoid, (.)(.) of two vectors their product element by element.
#pragma once

#include "nn/cells/gru.h"
#include "nn/cells/lstm.h"

namespace rondo {

/// Makes the cells below, and the operator they need, known: mlstm, mi_lstm, mgru, lstm_weight_drop. Once.
void add_bench_cells();

/// Multiplicative LSTM. Krause et al. 2016.
///
///   m = (W_mx x) (W_mh h)
///   i, f, o = s(W x + U m + b)      g = tanh(W x + U m + b)
///   c' = f c + i g                  h' = o tanh(c')
///
/// Gates are stacked i f g o.
struct Mlstm : Cell {
  Mlstm(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;
  State initial_state(int64_t batch) const override;

  GateBiases biases;
  Projection W, W_mx;
  Recurrent W_mh, U;
};

/// LSTM with multiplicative integration. Wu et al. 2016.
///
///   z = alpha (W x) (U h) + beta1 (U h) + beta2 (W x) + b
///   i, f, o = s(z)                  g = tanh(z)
///   c' = f c + i g                  h' = o tanh(c')
///
/// Gates are stacked i f g o; alpha, beta1, beta2 and b are vectors [4H]. One b, whatever the options ask
/// for.
struct MiLstm : Cell {
  MiLstm(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;
  State initial_state(int64_t batch) const override;

  Parameter alpha, beta1, beta2;
  GateBiases b;
  Projection W;
  Recurrent U;
};

/// Multiplicative GRU with one intermediate state. Maupome & Meurs, "mGRU with shared intermediate state".
///
///   m = (W_mx x) (W_mh h)
///   r, z = s(W x + U m + b)         n = tanh(W x + U (r m) + b)
///   h' = z h + (1 - z) n
///
/// z keeps the old state, as in nn/cells/gru.h; gates are stacked r z n.
struct Mgru : Cell {
  Mgru(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  GateBiases biases;
  Projection W, W_mx;
  Recurrent W_mh, U;
};

/// LSTM whose recurrent weights lose half of their elements, others in each update, the same at all its
/// steps: the LSTM of AWD-LSTM. Merity et al. 2018 (DropConnect, Wan et al. 2013).
struct LstmWeightDrop : Lstm {
  LstmWeightDrop(Module& parent, const std::string& suffix, const CellOptions& options);
};

}  // namespace rondo
