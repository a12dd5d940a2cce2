// Multiplicative integration.
#include "nn/cells/multiplicative_integration.h"

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/cells.h"

namespace rondo {
namespace {

double initial_bias(const Cell& cell) { return cell.settings<IntegrationBiasSettings>().integration_bias; }

}  // namespace

Variable integrate(const std::vector<Variable>& flows, const IntegrationVectors& vectors) {
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

Integration::Context::Context(Cell& cell, const StackedGates& gates)
    : C(cell, "weight_ch", gates.rows, {}, Projection::Reads::context),
      alpha_x(cell, "alpha_cx", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().alpha)),
      alpha_h(cell, "alpha_ch", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().alpha)),
      beta(cell, "beta_context", {gates.size()},
           constant_values(cell.settings<IntegrationSettings>().beta2)) {}

Integration::Integration(Cell& cell, const StackedGates& gates)
    : alpha_(cell, "alpha", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().alpha)),
      beta1_(cell, "beta1", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().beta1)),
      beta2_(cell, "beta2", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().beta2)),
      b_(cell, gates, initial_bias(cell)) {
  if (cell.options.context > 0) context_ = std::make_unique<Context>(cell, gates);
}

Variable Integration::operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                                 int64_t begin, int64_t end) const {
  const Variable Wx = x.take(W, begin, end), Uh = linear(past, U.rows(begin, end));
  if (!context_) return (*this)(Wx, Uh, begin, end);
  const auto part = [&](const Parameter& it) { return it.variable().slice(begin, end); };
  return integrate({Wx, Uh, x.take(context_->C, begin, end)},
                   {{part(alpha_), part(context_->alpha_x), part(context_->alpha_h)},
                    {part(beta2_), part(beta1_), part(context_->beta)},
                    part(*b_.input)});
}

Variable Integration::operator()(const Variable& Wx, const Variable& Uh, int64_t begin, int64_t end) const {
  const auto part = [&](const Parameter& it) { return it.variable().slice(begin, end); };
  return integrate({Wx, Uh}, {{part(alpha_)}, {part(beta2_), part(beta1_)}, part(*b_.input)});
}

Product::Product(Cell& cell, const StackedGates& gates) : b_(cell, gates, initial_bias(cell)) {}

Variable Product::operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                             int64_t begin, int64_t end) const {
  return x.take(W, begin, end) * linear(past, U.rows(begin, end)) + b_.input->variable().slice(begin, end);
}

}  // namespace rondo
