// Solutions of docs/tour/3_graph.md.
#include <gtest/gtest.h>

#include "autograd/operators.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

/// A trained number w, and its gradient.
struct TrainedNumber {
  Tensor value = Tensor::filled({1}, 3), gradient = Tensor::zeros({1});
  Variable w = Variable::leaf(value, gradient);
};

TEST(Tour3, ADetachedFactorIsAConstant) {
  const TrainedNumber both, one;
  (both.w * both.w).backward();
  (one.w * one.w.detached()).backward();
  EXPECT_EQ(both.gradient.item(), 6);  // d(w w)/dw = 2 w
  EXPECT_EQ(one.gradient.item(), 3);   // w times a constant that happens to be 3
}

TEST(Tour3, BackwardWorksOnceAndOnWhatItKnows) {
  const TrainedNumber it;
  const Variable y = it.w * it.w;
  y.backward();
  EXPECT_NE(any_error_of([&] { y.backward(); }).find("backward has already run"), std::string::npos);

  const Variable z = it.w * it.w;
  fill(it.value, 4);
  EXPECT_NE(any_error_of([&] { z.backward(); }).find("overwritten after it was used"), std::string::npos);
}

}  // namespace
}  // namespace rondo
