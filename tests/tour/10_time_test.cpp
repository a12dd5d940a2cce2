// Grades the exercises of docs/tour/10_time.md.
#include <10_time.h>
#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "tensor/profile.h"

namespace rondo::tour {

TEST(Tour10, AWeightCostsSixOperations) {
  constexpr int64_t B = 20, I = 65, O = 260;
  for (const bool x_needs_gradient : {true, false}) {
    const Tensor x = Tensor::zeros({B, I}), W = Tensor::zeros({O, I});
    const Tensor dx = Tensor::zeros({B, I}), dW = Tensor::zeros({O, I});
    set_profiling(true);
    sum(linear(x_needs_gradient ? Variable::leaf(x, dx) : Variable(x), Variable::leaf(W, dW))).backward();
    double counted = 0;
    for (const ProfileEntry& it : profile())
      if (it.kind == "gemm") counted += it.operations;
    set_profiling(false);
    EXPECT_EQ(operations(B, I, O, x_needs_gradient), counted);
  }
}

}  // namespace rondo::tour
