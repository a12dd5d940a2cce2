// Batch-normalised LSTM. Cooijmans, Ballas, Laurent, Gulcehre & Courville 2016, "Recurrent Batch
// Normalization", (6)-(8).
//
//   z = BN(W x; gamma_ih) + BN(U h; gamma_hh) + b
//   i, f, o = s(z)                  g = tanh(z)
//   c' = f c + i g                  h' = o tanh(BN(c'; gamma_c) + beta_c)
//
// BN(x; gamma) = gamma (x - mean) / sqrt(variance + 1e-5), by the statistics of each time step
// (nn/layers/batch_norm.h). The c that is carried on is not normalised. W x and U h have no beta of their
// own, which b would make superfluous. Gates are stacked i f g o. b starts at 0, plus the forget bias; gamma
// at 0.1, beta_c at 0. In the paper W_h is U, and its f has a bias that starts at 1: model.forget_bias.
//
// What the authors' code (github.com/cooijmanstim/recurrent-batch-normalization) does and this does not: it
// trains the initial h and c; stacks g f i o; draws U as one orthogonal [H, 4H], not gate by gate; and picks
// its best model by a validation error with the statistics of the validation batches, where here all
// evaluations use the population's.
//
// With multiplicative integration (Wu et al. 2016, nn/cells/multiplicative_integration.h) the gates are, as
// we read it, since Wu et al. write no equation for it,
//
//   z = alpha BN(W x) BN(U h) + beta1 BN(U h) + beta2 BN(W x) + b
#pragma once

#include "nn/cells/multiplicative_integration.h"
#include "nn/layers/batch_norm.h"

namespace rondo {

/// What the two share: all but how BN(W x) and BN(U h) meet.
struct BatchNormLstmBase : Cell {
  BatchNormLstmBase(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;
  State initial_state(int64_t batch) const override { return lstm_initial_state(batch, hidden(), device()); }
  /// z [B, 4H] from W x and U h, at a time step.
  virtual Variable gates(const Variable& Wx, const Variable& Uh, const RowMask& valid,
                         int64_t step) const = 0;

  Projection W;
  Recurrent U;
  BatchNorm norm_ih, norm_hh, norm_c;
  Parameter beta_c;
};

struct BatchNormLstm : BatchNormLstmBase {
  BatchNormLstm(Module& parent, const std::string& suffix, const CellOptions& options);
  Variable gates(const Variable& Wx, const Variable& Uh, const RowMask& valid, int64_t step) const override;

  GateBiases b;
};

struct BatchNormMiLstm : BatchNormLstmBase {
  BatchNormMiLstm(Module& parent, const std::string& suffix, const CellOptions& options);
  Variable gates(const Variable& Wx, const Variable& Uh, const RowMask& valid, int64_t step) const override;

  Integration z;
};

}  // namespace rondo
