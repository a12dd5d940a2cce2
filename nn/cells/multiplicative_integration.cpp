// Multiplicative integration.
#include "nn/cells/multiplicative_integration.h"

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/cells.h"

namespace rondo {
namespace {

double initial_bias(const Cell& cell) { return cell.settings<IntegrationBiasSettings>().integration_bias; }

}  // namespace

Integration::Integration(Cell& cell, const StackedGates& gates)
    : alpha_(cell, "alpha", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().alpha)),
      beta1_(cell, "beta1", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().beta1)),
      beta2_(cell, "beta2", {gates.size()}, constant_values(cell.settings<IntegrationSettings>().beta2)),
      b_(cell, gates, initial_bias(cell)) {
  cell.add_kept_for_backward(2 * gates.size());  // W x and U h remain beside z
}

Variable Integration::operator()(const Variable& Wx, const Variable& Uh, int64_t begin, int64_t end) const {
  const auto part = [&](const Parameter& x) { return x.variable().slice(begin, end); };
  return pointwise(MultiplicativeIntegration{}, Wx, Uh, part(alpha_), part(beta1_), part(beta2_),
                   part(*b_.input));
}

Product::Product(Cell& cell, const StackedGates& gates) : b_(cell, gates, initial_bias(cell)) {
  cell.add_kept_for_backward(2 * gates.size());
}

Variable Product::operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                             int64_t begin, int64_t end) const {
  return x.take(W, begin, end) * linear(past, U.rows(begin, end)) + b_.input->variable().slice(begin, end);
}

}  // namespace rondo
