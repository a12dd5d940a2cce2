// Batch normalisation as a join. Cooijmans, Ballas, Laurent, Gulcehre & Courville 2016, "Recurrent Batch
// Normalization", (6)-(8).
//
//   z = BN(W x; gamma_ih) + BN(U h; gamma_hh) + b
//   i, f, o = s(z)                  g = tanh(z)
//   c' = f c + i g                  h' = o tanh(BN(c'; gamma_c) + beta_c)
//
// BN(x; gamma) = gamma (x - mean) / sqrt(variance + 1e-5), with separate statistics for each time step
// (nn/layers/normalization.h). The c in the state is not normalised. W x and U h have no beta of their own: b
// makes it redundant. b starts at 0, plus the forget bias; gamma at 0.1, beta_c at 0. The paper calls U W_h,
// and the bias of its f starts at 1: model.forget_bias.
//
// Differences from the authors' code (github.com/cooijmanstim/recurrent-batch-normalization): it always
// trains the initial h and c, here model.trained_initial_states; stacks g f i o; draws U as one orthogonal
// [H, 4H], not gate by gate; and selects its best model by a validation error computed with the statistics of
// the validation batches, whereas here all evaluations use the population statistics.
//
// With multiplicative integration the gates are (our reading: Wu et al. 2016 print no equation for it)
//
//   z = alpha BN(W x) BN(U h) + beta1 BN(U h) + beta2 BN(W x) + b
#pragma once

#include "nn/cells/multiplicative_integration.h"
#include "nn/layers/normalization.h"

namespace rondo {

/// BN(W x) and BN(U h) of all gates at once, and BN of the cell state.
class BatchNormOfGates {
 public:
  static constexpr bool normalizes_cell_state = true, looks_across_rows = true;

  BatchNormOfGates(Cell& cell, const StackedGates& gates)
      : width_(gates.size()),
        norm_ih_(cell, "ih", width_, cell.options.max_time_steps),
        norm_hh_(cell, "hh", width_, cell.options.max_time_steps),
        norm_c_(cell, "c", cell.hidden(), cell.options.max_time_steps),
        beta_c_(cell, "beta_c", {cell.hidden()}, constant_values(0)) {}

  std::vector<const Parameter*> biases_of_input() const { return {}; }
  /// BN(c) + beta_c.
  Variable cell_state(StepInputs& x, const Variable& c) const { return norm_c_(c, x.step(), beta_c_); }

 protected:
  /// BN(W x) + shift, and BN(U h) + shift.
  Variable of_input(StepInputs& x, const Projection& W, const Variable& shift = {}) const {
    return norm_ih_(x.take(W), x.step(), shift);
  }
  Variable of_state(StepInputs& x, const Variable& past, const Recurrent& U,
                    const Variable& shift = {}) const {
    return norm_hh_(linear(past, U), x.step(), shift);
  }
  /// Throws Error unless all gates are computed at once.
  void check_all(int64_t begin, int64_t end) const {
    check(begin == 0 && end == width_,
          "[batch norm] normalises all {} gates at once, and was asked for [{}, {})", width_, begin, end);
  }

 private:
  int64_t width_;
  BatchNorm norm_ih_, norm_hh_, norm_c_;
  Parameter beta_c_;
};

/// z = BN(W x) + BN(U h) + b.
class BatchNormSum : public BatchNormOfGates {
 public:
  using Settings = SettingsOf<GateBiasSettings>;

  BatchNormSum(Cell& cell, const StackedGates& gates) : BatchNormOfGates(cell, gates), b_(cell, gates, 0) {}

  Variable operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                      int64_t begin, int64_t end) const {
    check_all(begin, end);
    return of_state(x, past, U, of_input(x, W, *b_.input));
  }

 private:
  GateBiases b_;
};

/// Multiplicative integration of BN(W x) and BN(U h).
class BatchNormIntegration : public BatchNormOfGates {
 public:
  using Settings = Integration::Settings;

  BatchNormIntegration(Cell& cell, const StackedGates& gates)
      : BatchNormOfGates(cell, gates), integration_(cell, gates) {}

  Variable operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                      int64_t begin, int64_t end) const {
    check_all(begin, end);
    const Variable Wx = of_input(x, W);
    return integration_(Wx, of_state(x, past, U), begin, end);
  }

 private:
  Integration integration_;
};

}  // namespace rondo
