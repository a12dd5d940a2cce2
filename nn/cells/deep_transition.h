// Deep transition: layers between one state and the next. Pascanu et al. 2013.
//
//   u_1 = tanh(W x + U h + b_1)     u_k = tanh(V_k u_(k-1) + b_k)     h' = u_L           DT-RNN
//   u_L = tanh(V_L u_(L-1) + S h + b_L)                                                  DT(S)-RNN
//
// u_1 to u_(L-1) are the inner layers, whose number and sizes are CellOptions::transition; u_L has H units.
// DT(S) gives h a way around them; that S joins inside of the tanh is our reading. Layers from h' to the
// output in place of, or besides, those from h to h' (DO-RNN; DOT-RNN, DOT(S)-RNN) are the model's output
// layers (LanguageModelOptions::output_layers), and a stacked RNN is several layers of nn/cells/rnn.h. One b
// for each layer, whatever the options ask for.
//
// With the gates of an LSTM or a GRU the inner layers come between h and the gates, which see u in place of h
// and join x as always; what they keep, c or h, goes around. Ours, after the same paper.
#pragma once

#include "nn/cells/gru.h"
#include "nn/cells/lstm.h"

namespace rondo {

/// Layers one behind another, tanh(V_k u + b_k): weight_k is V_k, bias_k is b_k.
class Transition {
 public:
  /// From a vector of size `from` through layers of these sizes, of which the first is number `first`.
  Transition(Cell& cell, int64_t from, const std::vector<int64_t>& sizes, int64_t first);
  /// [B, from] to [B, the last size].
  Variable operator()(Variable u) const;

 private:
  struct Layer {
    Layer(Cell& cell, int64_t number, int64_t from, int64_t to);
    Recurrent V;
    Parameter b;
  };
  std::vector<std::unique_ptr<Layer>> layers_;
};

/// weight_ih is W, weight_hh is U, bias_1 is b_1; weight_k is V_k, bias_k is b_k.
struct DeepTransitionRnn : Cell {
  DeepTransitionRnn(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  Parameter b;
  Projection W;
  Recurrent U;
  Transition inner;
  Recurrent V;
  Parameter b_last;

 protected:
  /// V_L u_(L-1) + b_L.
  Variable last(StepInputs& x, const State& previous);
};

/// weight_shortcut is S [H, H].
struct DeepTransitionRnnWithShortcut : DeepTransitionRnn {
  DeepTransitionRnnWithShortcut(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  Recurrent S;
};

/// weight_ih and weight_hh as in nn/cells/lstm.h, but weight_hh sees u.
struct DeepTransitionLstm : Cell {
  DeepTransitionLstm(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;
  State initial_state(int64_t batch) const override { return lstm_initial_state(batch, hidden(), device()); }

  GateBiases biases;
  Projection z;
  Transition inner;
  Recurrent U;
};

/// weight_ih and weight_hh as in nn/cells/gru.h, but weight_hh sees u, which the reset gate filters: r has as
/// many units as u.
struct DeepTransitionGru : Cell {
  DeepTransitionGru(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  std::vector<int64_t> gates;  // their rows
  GateBiases biases;
  Projection x_gates;
  Transition inner;
  Recurrent U;
};

}  // namespace rondo
