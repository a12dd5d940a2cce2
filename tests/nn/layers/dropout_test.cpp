// Dropout of rows with gaps. What its masks are: tests/nn/models/language_model_values_in_double_test.cpp;
// that micro-batches have their part of them: tests/lm/training/ranks_in_both_test.cpp.
#include "nn/layers/dropout.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

using Numbers = std::vector<real>;

TEST(Dropout, DropsTheSameOfRowsWithGaps) {
  struct Part : Module {
    Part() { finalize(1); }
    Dropout dropout{*this, "d", 0.5, true};
  } part;
  part.set_training(true);
  const int64_t T = 4, B = 6, W = 5;
  const Tensor dense = Tensor::filled({T, B, W}, 1),
               gaps = Tensor::filled({T, B, W + 3}, 1).slice_columns(0, W);
  ASSERT_FALSE(gaps.contiguous());
  for (const BatchSlice slice : {BatchSlice{}, {B, 0, B}, {B, 3, 2 * B}, {2, 1, 5}}) {
    const auto drawn = [&](const Tensor& x) {
      part.begin_update({.seed = 2, .slice = slice});
      return part.dropout(Variable(x)).value().to_vector();
    };
    const Numbers expected = drawn(dense);
    EXPECT_EQ(drawn(gaps), expected) << slice.batch;
    EXPECT_NE(Numbers(expected.begin(), expected.begin() + W),
              Numbers(expected.begin() + W, expected.begin() + 2 * W));
  }
}

}  // namespace
}  // namespace rondo
