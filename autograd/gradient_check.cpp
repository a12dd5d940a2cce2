// The gradient check: see gradient_check.h.
#include "autograd/gradient_check.h"

#include <algorithm>
#include <cmath>

#include "autograd/functions.h"
#include "autograd/operators.h"

namespace rondo {

void GradientCheck::compare(const std::string& name, const Tensor& value, const Tensor& gradient,
                            const std::function<double()>& loss, double tolerance) {
  constexpr double h = sizeof(real) == 8 ? 1e-5 : 0.01;
  const NoGradient guard;
  for (int64_t j = 0; j < value.size(); ++j) {
    const int64_t row = j / value.columns(), column = j % value.columns();
    const int64_t place = row * value.row_stride() + column;
    const real kept = value.data()[place];
    const auto moved_by = [&](double offset) {
      value.mutable_data()[place] = static_cast<real>(kept + offset);
      const double result = loss();
      value.mutable_data()[place] = kept;
      return result;
    };
    const double numeric = (moved_by(h) - moved_by(-h)) / (2 * h);
    const double analytic = gradient.data()[row * gradient.row_stride() + column];
    const double error =
        std::abs(analytic - numeric) / std::max({1.0, std::abs(analytic), std::abs(numeric)});
    if (error <= largest_error && std::isfinite(error)) continue;
    largest_error = error;
    worst = fmt::format("{} element {}: backward {} and difference {}", name, j, analytic, numeric);
    passed &= error <= tolerance;  // also false for NaN
  }
}

GradientCheck check_gradients(const std::function<Variable(const std::vector<Variable>&)>& f,
                              const std::vector<Tensor>& inputs, double tolerance) {
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
  for (size_t i = 0; i < leaves.size(); ++i)
    result.compare(
        fmt::format("input {}", i), leaves[i].value(), gradients[i],
        [&] { return weighted().value().item(); }, tolerance);
  return result;
}

}  // namespace rondo
