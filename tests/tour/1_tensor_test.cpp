// Grades the exercises of docs/tour/1_tensor.md.
#include <1_tensor.h>
#include <gtest/gtest.h>

#include "tensor/products/gemm.h"
#include "tensor/random.h"

namespace rondo::tour {

// With columns() in place of row_stride() the rows of the parts, which lie 10 apart, would be read from 4
// apart.
TEST(Tour1, AProductByThreeLoops) {
  const Tensor wide({3, 10}), tall({4, 6}), expected({3, 2}), around = Tensor::zeros({3, 5});
  fill_uniform(wide, {.seed = 1}, -1, 1);
  fill_uniform(tall, {.seed = 2}, -1, 1);
  const Tensor a = wide.slice_columns(5, 9), b = tall.slice_columns(3, 5), c = around.slice_columns(1, 3);
  fill(c, 7);
  gemm(a, Transpose::no, b, Transpose::no, false, expected);
  multiply(a, b, c);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j) EXPECT_NEAR(c[i].data()[j], expected[i].data()[j], 1e-6);
  fill(c, 0);
  EXPECT_EQ(around.to_vector(), std::vector<real>(15)) << "it has written outside of c";
}

TEST(Tour1, AViewWritesIntoTheWhole) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  const uint64_t before = x.version();
  clear_columns(x, 1, 3);
  EXPECT_EQ(x.to_vector(), (std::vector<real>{1, 0, 0, 4, 0, 0}));
  EXPECT_GT(x.version(), before);
}

}  // namespace rondo::tour
