// The operator of docs/extending.md that is not pointwise: its forward, its backward, and what it saves for
// backward. Plain loops on the CPU; Rondo's own operators launch kernels of tensor/kernels/kernels.h, which
// run on both devices.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "autograd/functions.h"
#include "autograd/gradient_check.h"

using namespace rondo;

namespace {

/// Each row of x [.., H] divided by its Euclidean length. Throws Error for a row of zeros, which has no
/// direction.
Variable unit_rows(const Variable& x) {
  const Tensor from = contiguous(x.value()), y(x.shape());
  const int64_t H = y.columns();
  std::vector<real> lengths;
  real* to = y.mutable_data();
  for (int64_t r = 0; r < y.rows(); ++r, to += H) {
    const real* row = from.data() + r * H;
    lengths.push_back(std::sqrt(std::inner_product(row, row + H, row, real(0))));
    check(lengths[r] > 0, "[unit_rows] row {} of {} is zero and has no direction", r, x.shape());
    for (int64_t j = 0; j < H; ++j) to[j] = row[j] / lengths[r];
  }
  // dx = (dy - y <y, dy>) / |x|: what would only lengthen the row has no effect.
  auto backward = [y = Saved(y), lengths, H](const std::vector<Tensor>& gradients, const Inputs& inputs) {
    const Tensor unit = y.get("unit_rows"), dy = contiguous(gradients[0]), dx(unit.shape());
    real* d = dx.mutable_data();
    for (int64_t r = 0; r < dx.rows(); ++r, d += H) {
      const real *u = unit.data() + r * H, *g = dy.data() + r * H;
      const real along = std::inner_product(u, u + H, g, real(0));
      for (int64_t j = 0; j < H; ++j) d[j] = (g[j] - along * u[j]) / lengths[r];
    }
    inputs[0].add(dx);
  };
  return record("unit_rows", y, {x}, backward);
}

TEST(ExampleOtherOperator, HasItsValueAndItsGradient) {
  const Tensor gradient = Tensor::zeros({2, 2});
  const Variable x = Variable::leaf(Tensor::from({3, 4, 0, -2}, {2, 2}), gradient);
  const Variable y = unit_rows(x);
  sum(y).backward();
  const std::vector<real> values = {0.6, 0.8, 0, -1};
  // By hand: d(3 / |x|)/d3 + d(4 / |x|)/d3 = (16 - 12) / 125, and so on.
  const std::vector<real> gradients = {0.032, -0.024, 0.5, 0};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(y.value().data()[i], values[i], 1e-6) << i;
    EXPECT_NEAR(gradient.data()[i], gradients[i], 1e-6) << i;
  }
}

TEST(ExampleOtherOperator, TakesViewsAndThreeDimensions) {
  const Tensor gradient = Tensor::zeros({2, 2, 3});
  const Variable x = Variable::leaf(Tensor::filled({2, 2, 3}, 2), gradient);
  const Variable y = unit_rows(x.slice_columns(1, 3));
  sum(y).backward();
  for (const real value : y.value().to_vector()) EXPECT_NEAR(value, std::sqrt(0.5), 1e-6);
  for (const real value : gradient.to_vector()) EXPECT_NEAR(value, 0, 1e-6);
}

#ifdef RONDO_DOUBLE  // central differences need double
TEST(ExampleOtherOperator, PassesTheGradientCheck) {
  const Tensor x = Tensor::from({3, 4, -1, 0.5, -2, 1, 0.25, 1, 7}, {3, 3});
  const GradientCheck result = check_gradients([](const auto& in) { return unit_rows(in[0]); }, {x});
  EXPECT_TRUE(result.passed) << result.worst;
}
#endif

TEST(ExampleOtherOperator, RefusesARowOfZeros) {
  EXPECT_THROW(unit_rows(Variable(Tensor::zeros({2, 3}))), Error);
}

}  // namespace
