// Solutions of docs/tour/9_time.md.
#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "tensor/profile.h"
#include "tensor/random.h"

namespace rondo {
namespace {

TEST(Tour9, AStepCostsSixOperationsForEachWeightAndRow) {
  constexpr int64_t B = 20, I = 65, O = 260;
  const auto trained = [](Shape shape) {
    const Tensor values(shape);
    fill_uniform(values, {.seed = 1}, -1, 1);
    return Variable::leaf(values, Tensor::zeros(shape));
  };
  const Variable x = trained({B, I}), W = trained({O, I});
  const auto operations_with = [&](const Variable& input) {
    set_profiling(true);
    sum(linear(input, W)).backward();
    double operations = 0;
    for (const ProfileEntry& it : profile())
      if (it.kind == "gemm") operations += it.operations;
    set_profiling(false);
    return operations;
  };
  EXPECT_EQ(operations_with(x), 6 * B * I * O);
  EXPECT_EQ(operations_with(x.detached()), 4 * B * I * O);  // a constant has no gradient
}

TEST(Tour9, AChangedWeightIsPackedAgain) {
  const Tensor x = Tensor::filled({20, 64}, 1), weight = Tensor::filled({32, 64}, 1), y({20, 32});
  weight_gemm(x, weight, Transpose::yes, {}, y);
  EXPECT_EQ(y.data()[0], 64);
  weight.mutable_data()[0] = 11;  // of row 0; the version tells
  weight_gemm(x, weight, Transpose::yes, {}, y);
  EXPECT_EQ(y.data()[0], 74);
  EXPECT_EQ(y.data()[1], 64);
}

}  // namespace
}  // namespace rondo
