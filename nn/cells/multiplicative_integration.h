// Multiplicative integration: W x and U h are multiplied. Wu et al. 2016 (3)-(4).
//
//   z = alpha (W x) (U h) + beta1 (U h) + beta2 (W x) + b
//
// instead of W x + U h + b, with trained vectors alpha, beta1, beta2 and b, four for each gate. alpha = 0 and
// beta1 = beta2 = 1 is the sum. With the identity in place of tanh, without biases and with stochastic
// matrices, an MI-RNN is the forward algorithm of a hidden Markov model (section 4.1).
//
// k flows of information f_1 .. f_k are integrated pairwise (section 2.1):
//
//   z = sum over i < j of alpha_ij f_i f_j + sum over i of beta_i f_i + b
//
// A cell whose input ends in a context c, as a decoder's may, has three: W x, U h and C c.
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

/// The vectors of an integration of k flows.
struct IntegrationVectors {
  std::vector<Variable> alpha;  // of the pairs 12, 13, 23, 14, 24, 34, ...
  std::vector<Variable> beta;   // of each flow
  Variable b;
};
/// The second equation above: two flows or more, [.., N] each, with vectors [N].
inline Variable integrate(const std::vector<Variable>& flows, const IntegrationVectors& vectors) {
  const auto& [alpha, beta, b] = vectors;
  const size_t k = flows.size();
  check(k >= 2 && alpha.size() == k * (k - 1) / 2 && beta.size() == k,
        "[integrate] k flows, 2 or more, have k (k - 1) / 2 alphas and k betas: got {} flows, {} alphas, {} "
        "betas",
        k, alpha.size(), beta.size());
  Variable z = pointwise(MultiplicativeIntegration{}, flows[0], flows[1], alpha[0], beta[1], beta[0], b);
  auto next = alpha.begin() + 1;
  for (size_t j = 2; j < k; ++j) {
    z = pointwise(IntegrateFlow{}, z, flows[0], flows[j], *next++, beta[j]);
    for (size_t i = 1; i < j; ++i) z = pointwise(IntegratePair{}, z, flows[i], flows[j], *next++);
  }
  return z;
}

/// The first equation above, of the flows W x and U h; of a cell with a context (CellOptions) the second,
/// with C c as the third flow. The paper has no initial values for more than two flows: here all alphas have
/// the same, and the context's beta has that of the input.
class Integration {
 public:
  using Settings = SettingsOf<GateBiasSettings, IntegrationSettings, IntegrationBiasSettings>;
  static constexpr bool normalizes_cell_state = false, looks_across_rows = false;

  Integration(Cell& cell, const StackedGates& gates)
      : alpha_(cell, "alpha", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().alpha)),
        beta1_(cell, "beta1", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().beta1)),
        beta2_(cell, "beta2", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().beta2)),
        b_(cell, gates, cell.settings<IntegrationBiasSettings>().integration_bias) {
    if (cell.options.context > 0) context_ = std::make_unique<Context>(cell, gates);
  }

  std::vector<const Parameter*> biases_of_input() const { return {}; }
  Variable operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                      int64_t begin, int64_t end) const {
    const Variable Wx = x.take(W, begin, end), Uh = linear(past, U.rows(begin, end));
    if (!context_) return (*this)(Wx, Uh, begin, end);
    return integrate(
        {Wx, Uh, x.take(context_->C, begin, end)},
        {{alpha_.rows(begin, end), context_->alpha_x.rows(begin, end), context_->alpha_h.rows(begin, end)},
         {beta2_.rows(begin, end), beta1_.rows(begin, end), context_->beta.rows(begin, end)},
         b_.input->rows(begin, end)});
  }
  /// The same, from W x and U past, for rows [begin, end).
  Variable operator()(const Variable& Wx, const Variable& Uh, int64_t begin, int64_t end) const {
    return integrate({Wx, Uh}, {{alpha_.rows(begin, end)},
                                {beta2_.rows(begin, end), beta1_.rows(begin, end)},
                                b_.input->rows(begin, end)});
  }

 private:
  /// C c, with its alphas beside W x and U h, and its beta.
  struct Context {
    Context(Cell& cell, const StackedGates& gates)
        : C(cell, "weight_ch", gates.rows, {}, Projection::Reads::context),
          alpha_x(cell, "alpha_cx", {gates.size()},
                  constant_values(cell.settings<IntegrationSettings>().alpha)),
          alpha_h(cell, "alpha_ch", {gates.size()},
                  constant_values(cell.settings<IntegrationSettings>().alpha)),
          beta(cell, "beta_context", {gates.size()},
               constant_values(cell.settings<IntegrationSettings>().beta2)) {}
    Projection C;
    Parameter alpha_x, alpha_h, beta;
  };

  Parameter alpha_, beta1_, beta2_;
  GateBiases b_;
  std::unique_ptr<Context> context_;  // null: the cell has none
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
