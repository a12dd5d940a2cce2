// Grades the exercises of docs/tour/3_graph.md.
#include <3_graph.h>
#include <gtest/gtest.h>

#include "tensor/random.h"

namespace rondo::tour {

TEST(Tour3, ADetachedFactorIsAConstant) {
  const Tensor value = Tensor::filled({1}, 3), gradient = Tensor::zeros({1});
  const Variable y = half_differentiated_square(Variable::leaf(value, gradient));
  EXPECT_EQ(y.value().item(), 9);
  y.backward();
  EXPECT_EQ(gradient.item(), 3);
}

TEST(Tour3, TheGradientOfAllStepsIsOneProduct) {
  constexpr int64_t T = 7, B = 2, O = 5, H = 3;
  const Tensor dz({T, B, O}), h({T, B, H}), sum = Tensor::zeros({O, H});
  fill_uniform(dz, {.seed = 1}, -1, 1);
  fill_uniform(h, {.seed = 2}, -1, 1);
  for (int64_t t = 0; t < T; ++t) gemm(dz[t], Transpose::yes, h[t], Transpose::no, true, sum);
  const Tensor dU = gradient_of_recurrent_weight(dz, h);
  for (int64_t i = 0; i < O; ++i)
    for (int64_t j = 0; j < H; ++j) EXPECT_NEAR(dU[i].data()[j], sum[i].data()[j], 1e-5);
}

}  // namespace rondo::tour
