// Multiplicative cells: what the past tells the gates depends on the symbol. In place of h they see an
// intermediate state m [B, M], the product, unit by unit, of a linear map of x and one of h:
//
//   m = (W_mx x) (W_mh h)                            Sutskever et al. 2011; Maupome & Meurs (5)
//
// a factorization of a tensor W [I, H, H] that would give every symbol a recurrent matrix of its own. M is
// free; the default, the size of x, is that of the small models of Maupome & Meurs. m has no bias. The gate
// equations are those of nn/cells/lstm.h and nn/cells/gru.h. s is the sigmoid.
#pragma once

#include "nn/cells/gru.h"
#include "nn/cells/lstm.h"

namespace rondo {

/// One m, or several stacked: weight_mx is W_mx [count M, I], weight_mh is W_mh [count M, H].
struct IntermediateState {
  IntermediateState(Cell& cell, const CellOptions& options, int64_t count = 1);
  /// All of them, [B, count M].
  Variable operator()(StepInputs& x, const Variable& h) const;
  /// Number k alone, [B, M]; from left to right.
  Variable operator()(StepInputs& x, const Variable& h, int64_t k) const;

  int64_t M;
  Projection W_mx;
  Recurrent W_mh;
};

/// Tensor RNN: a recurrent matrix of its own for each symbol. Sutskever et al. 2011; Maupome & Meurs (2).
///
///   h' = tanh(U x + (sum_i W_i x_i) h + b)
///
/// weight_ih is U [H, I]; weight_hx holds W_i [H, H] as its column i, [H H, I]. For small I: a step makes B
/// matrices.
struct TensorRnn : Cell {
  TensorRnn(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  GateBiases biases;
  Projection U, W;
};

/// Multiplicative RNN. Sutskever et al. 2011; Maupome & Meurs (4), (5).
///
///   h' = tanh(U x + V m + b)
///
/// weight_ih is U [H, I], weight_hm is V [H, M].
struct MultiplicativeRnn : Cell {
  MultiplicativeRnn(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  GateBiases biases;
  Projection U;
  IntermediateState m;
  Recurrent V;
};

/// Multiplicative LSTM: one m for all gates. Krause et al. 2016.
///
///   i, f, o = s(U x + V m + b)      g = tanh(U x + V m + b)
///   c' = f c + i g                  h' = o tanh(c')
///
/// Gates are stacked i f g o: weight_ih is U [4H, I], weight_hm is V [4H, M]. Maupome & Meurs (11)-(13) print
/// W h for U x, which neither Krause et al. nor their own parameter counts allow.
struct MultiplicativeLstm : Cell {
  MultiplicativeLstm(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;
  State initial_state(int64_t batch) const override { return lstm_initial_state(batch, hidden(), device()); }

  GateBiases biases;
  Projection U;
  IntermediateState m;
  Recurrent V;
};

/// True multiplicative LSTM: an m for each gate and for the candidate. Maupome & Meurs (14)-(17).
///
///   m_k = (W_kx x) (W_kh h)         k = i, f, g, o
///   i, f, o = s(U x + V m_k + b)    g = tanh(U x + V m_g + b)
///   c' = f c + i g                  h' = o tanh(c')
///
/// All four are stacked i f g o.
struct TrueMultiplicativeLstm : Cell {
  TrueMultiplicativeLstm(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;
  State initial_state(int64_t batch) const override { return lstm_initial_state(batch, hidden(), device()); }

  GateBiases biases;
  Projection U;
  IntermediateState m;
  Recurrent V;
};

/// Multiplicative GRU with a shared m, which the reset gate filters in place of h. Maupome & Meurs (25)-(27).
///
///   r, z = s(U x + V m + b)         n = tanh(U x + V (r m) + b)
///   h' = z h + (1 - z) n
///
/// Gates are stacked r z n, and z keeps the old state (Maupome & Meurs write 1 - z for it). r filters m, and
/// so has M units: weight_ih is U [M + 2H, I], weight_hm is V [M + 2H, M].
struct MultiplicativeGru : Cell {
  MultiplicativeGru(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  std::vector<int64_t> gates;  // their rows
  GateBiases biases;
  Projection U;
  IntermediateState m;
  Recurrent V;
};

/// True multiplicative GRU: an m for each gate; the candidate's sees the reset state. Maupome & Meurs
/// (22)-(24); (23) has a misplaced parenthesis.
///
///   m_r, m_z = (W_kx x) (W_kh h)    r, z = s(U x + V m_k + b)
///   m_n = (W_nx x) (W_nh (r h))     n = tanh(U x + V m_n + b)
///   h' = z h + (1 - z) n
///
/// All three are stacked r z n, and z keeps the old state.
struct TrueMultiplicativeGru : Cell {
  TrueMultiplicativeGru(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  GateBiases biases;
  Projection U;
  IntermediateState m;
  Recurrent V;
};

}  // namespace rondo
