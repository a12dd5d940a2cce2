// Penalties on activations: values against plain loops, and the gradient of a mean square. Gradients of both
// beside other uses: tests/autograd/function_cases.h.
#include "nn/regularization.h"

#include "autograd/operators/arithmetic.h"
#include "tests/autograd/samples.h"

namespace rondo {
namespace {

constexpr int64_t T = 4, B = 3, H = 5;

/// The value, and the gradient of 7 times it.
struct Computed {
  double value;
  std::vector<real> gradient;
};
Computed compute(Variable (*penalty)(const Variable&), const Tensor& x) {
  const Tensor gradient = Tensor::zeros(x.shape());
  const Variable leaf = Variable::leaf(x, gradient);
  const Variable y = penalty(leaf);
  EXPECT_EQ(y.shape(), Shape{1});
  if (y.needs_gradient()) (y * 7).backward();
  return {y.value().item(), gradient.to_vector()};
}

TEST(ActivationRegularization, IsTheMeanSquare) {
  const Tensor x = samples({{T, B, H}})[0];
  const std::vector<real> v = x.to_vector();
  double mean = 0;
  for (const double element : v) mean += element * element / (T * B * H);
  const auto [value, gradient] = compute(activation_regularization, x);
  EXPECT_NEAR(value, mean, 1e-9);
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(gradient[i], 7 * 2 * v[i] / (T * B * H), 1e-9) << i;
}

TEST(TemporalRegularization, IsTheMeanSquareOfDifferences) {
  const Tensor x = samples({{T, B, H}})[0];
  const std::vector<real> v = x.to_vector();
  double sum = 0;
  for (size_t i = 0; i + B * H < v.size(); ++i) sum += (v[i + B * H] - v[i]) * (v[i + B * H] - v[i]);
  EXPECT_NEAR(compute(temporal_regularization, x).value, sum / ((T - 1) * B * H), 1e-9);
}

TEST(TemporalRegularization, OfOneStepIsZero) {
  const auto [value, gradient] = compute(temporal_regularization, samples({{1, B, H}})[0]);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(gradient, std::vector<real>(B * H, 0));
  EXPECT_THROW(temporal_regularization(Tensor::zeros({B, H})), Error);
}

}  // namespace
}  // namespace rondo
