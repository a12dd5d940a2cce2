// Penalties on activations: values and gradients against plain loops.
#include "nn/regularization.h"

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tests/autograd/samples.h"

namespace rondo {
namespace {

constexpr int64_t T = 4, B = 3, H = 5;
size_t at(int64_t t, int64_t b, int64_t h) { return static_cast<size_t>((t * B + b) * H + h); }

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
  std::vector<double> expected(v.size(), 0);
  for (int64_t t = 0; t + 1 < T; ++t)
    for (int64_t b = 0; b < B; ++b)
      for (int64_t h = 0; h < H; ++h) {
        const double change = v[at(t + 1, b, h)] - v[at(t, b, h)];
        sum += change * change;
        expected[at(t + 1, b, h)] += 2 * change;
        expected[at(t, b, h)] -= 2 * change;
      }
  const double size = (T - 1) * B * H;
  const auto [value, gradient] = compute(temporal_regularization, x);
  EXPECT_NEAR(value, sum / size, 1e-9);
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(gradient[i], 7 * expected[i] / size, 1e-9) << i;
}

TEST(TemporalRegularization, OfOneStepIsZero) {
  const auto [value, gradient] = compute(temporal_regularization, samples({{1, B, H}})[0]);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(gradient, std::vector<real>(B * H, 0));
  EXPECT_THROW(temporal_regularization(Tensor::zeros({B, H})), Error);
}

// As in a training: of an output that others use as well, before and after a mask.
TEST(Regularization, GradientsBesideOtherUses) {
  expect_gradients(
      [](const std::vector<Variable>& x) {
        const Variable hidden = tanh(x[0]), dropped = hidden * x[1];
        return mean(dropped) + activation_regularization(dropped) * 2 + temporal_regularization(hidden) * 3 +
               mean(square(hidden));
      },
      samples({{T, B, H}, {T, B, H}}));
  // Of x alone, which nothing else keeps.
  expect_gradients(
      [](const std::vector<Variable>& x) {
        return activation_regularization(x[0] + x[1]) + temporal_regularization(x[0] * x[1]);
      },
      samples({{T, B, H}, {T, B, H}}));
}

}  // namespace
}  // namespace rondo
