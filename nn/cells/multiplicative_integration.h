// Multiplicative integration: W x and U h are multiplied. Wu et al. 2016 (3)-(4).
//
//   z = alpha (W x) (U h) + beta1 (U h) + beta2 (W x) + b
//
// instead of W x + U h + b, with trained vectors alpha, beta1, beta2 and b, four for each gate. alpha = 0 and
// beta1 = beta2 = 1 is the sum. With the identity in place of tanh, without biases and with stochastic
// matrices, an MI-RNN is the forward algorithm of a hidden Markov model (section 4.1).
#pragma once

#include "autograd/operators/arithmetic.h"
#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

/// Initial values: the defaults are those that Wu et al. 2016 use in an LSTM on text8.
struct IntegrationSettings {
  double alpha = 1, beta1 = 0.5, beta2 = 0.5;
};
inline Keys keys_of(IntegrationSettings& it) {
  return {
      {"alpha", &it.alpha, "initial value of the weights of the product of what input and state contribute"},
      {"beta1", &it.beta1, "the same, of what the state contributes"},
      {"beta2", &it.beta2, "the same, of what the input contributes"}};
}

struct IntegrationBiasSettings {
  double integration_bias = 0;
};
inline Keys keys_of(IntegrationBiasSettings& it) {
  return {{"integration_bias", &it.integration_bias, "initial value of the biases"}};
}

/// The equation above.
class Integration {
 public:
  using Settings = SettingsOf<GateBiasSettings, IntegrationSettings, IntegrationBiasSettings>;
  static constexpr bool normalizes_cell_state = false, looks_across_rows = false;

  Integration(Cell& cell, const StackedGates& gates)
      : alpha_(cell, "alpha", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().alpha)),
        beta1_(cell, "beta1", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().beta1)),
        beta2_(cell, "beta2", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().beta2)),
        b_(cell, gates, cell.settings<IntegrationBiasSettings>().integration_bias) {}

  std::vector<const Parameter*> biases_of_input() const { return {}; }
  Variable operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                      int64_t begin, int64_t end) const {
    const Variable Wx = x.take(W, begin, end);
    return (*this)(Wx, linear(past, U.rows(begin, end)), begin, end);
  }
  /// The same, from W x and U past, for rows [begin, end).
  Variable operator()(const Variable& Wx, const Variable& Uh, int64_t begin, int64_t end) const {
    return pointwise(MultiplicativeIntegration{}, Wx, Uh, alpha_.rows(begin, end), beta1_.rows(begin, end),
                     beta2_.rows(begin, end), b_.input->rows(begin, end));
  }

 private:
  Parameter alpha_, beta1_, beta2_;
  GateBiases b_;
};

/// z = (W x) (U h) + b: alpha = 1 and beta1 = beta2 = 0, not trained (2).
class Product {
 public:
  using Settings = SettingsOf<GateBiasSettings, IntegrationBiasSettings>;
  static constexpr bool normalizes_cell_state = false, looks_across_rows = false;

  Product(Cell& cell, const StackedGates& gates)
      : b_(cell, gates, cell.settings<IntegrationBiasSettings>().integration_bias) {}

  std::vector<const Parameter*> biases_of_input() const { return {}; }
  Variable operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                      int64_t begin, int64_t end) const {
    return x.take(W, begin, end) * linear(past, U.rows(begin, end)) + b_.input->rows(begin, end);
  }

 private:
  GateBiases b_;
};

}  // namespace rondo
