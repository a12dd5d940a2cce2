// Solutions of docs/tour/1_tensor.md.
#include <gtest/gtest.h>

#include "tensor/products/gemm.h"
#include "tensor/random.h"

namespace rondo {
namespace {

TEST(Tour1, AProductByThreeLoops) {
  constexpr int64_t M = 3, K = 4, N = 2;
  const Tensor wide({M, 10}), b({K, N}), c({M, N});
  fill_uniform(wide, {.seed = 1}, -1, 1);
  fill_uniform(b, {.seed = 2}, -1, 1);
  const Tensor a = wide.slice_columns(5, 5 + K);
  gemm(a, Transpose::no, b, Transpose::no, false, c);
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j) {
      real sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += a.data()[i * a.row_stride() + k] * b.data()[k * b.row_stride() + j];
      EXPECT_NEAR(c.data()[i * c.row_stride() + j], sum, 1e-6);
    }
  // With columns() the rows of a, which lie 10 apart, would be read from 4 apart.
  EXPECT_EQ(a.columns(), 4);
  EXPECT_EQ(a.row_stride(), 10);
}

TEST(Tour1, AViewWritesIntoTheWhole) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor part = x.slice_columns(1, 3);
  const uint64_t before = x.version();
  fill(part, 0);
  EXPECT_EQ(x.to_vector(), (std::vector<real>{1, 0, 0, 4, 0, 0}));
  EXPECT_GT(x.version(), before);
  EXPECT_TRUE(part.shares_memory(x));
}

}  // namespace
}  // namespace rondo
