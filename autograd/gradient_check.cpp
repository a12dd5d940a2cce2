// The gradient check.
#include "autograd/gradient_check.h"

#include <algorithm>
#include <cmath>

#include "autograd/functions.h"
#include "autograd/operators.h"

namespace rondo {

GradientCheck check_gradients(const std::function<Variable(const std::vector<Variable>&)>& f,
                              const std::vector<Tensor>& inputs, double tolerance) {
  constexpr double h = sizeof(real) == 8 ? 1e-5 : 0.01;
  std::vector<Variable> leaves;
  std::vector<Tensor> gradients;
  for (const Tensor& input : inputs) {
    gradients.push_back(Tensor::zeros(input.shape()));
    leaves.push_back(Variable::leaf(clone(input), gradients.back()));
  }
  Tensor weights;
  auto weighted = [&]() {
    const Variable y = f(leaves);
    if (!weights.defined()) {
      weights = Tensor(y.shape());
      fill_uniform(weights, {.seed = 5, .name = hash_of("gradient check")}, real(0.5), real(1.5));
    }
    return sum(y * Variable(weights));
  };
  weighted().backward();
  GradientCheck result;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Tensor& value = leaves[i].value();
    for (int64_t j = 0; j < value.size(); ++j) {
      const NoGradient guard;
      const real kept = value.data()[j];
      value.write()[j] = static_cast<real>(kept + h);
      const double above = weighted().value().item();
      value.write()[j] = static_cast<real>(kept - h);
      const double below = weighted().value().item();
      value.write()[j] = kept;
      const double numeric = (above - below) / (2 * h), analytic = gradients[i].data()[j];
      const double error =
          std::abs(analytic - numeric) / std::max({1.0, std::abs(analytic), std::abs(numeric)});
      if (error <= result.largest_error && std::isfinite(error)) continue;
      result.largest_error = error;
      result.worst =
          fmt::format("input {} element {}: backward {} and difference {}", i, j, analytic, numeric);
      result.passed &= error <= tolerance;  // false for NaN, too
    }
  }
  return result;
}

}  // namespace rondo
