// Products over all transposes and strides against a plain loop, and which kernels BLAS has chosen.
#include "tensor/gemm.h"

#include <gtest/gtest.h>

#include <limits>

#include "tensor/random.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

/// A random [rows, columns] that is a block of a wider matrix when `pad` > 0.
Tensor random_block(int64_t rows, int64_t columns, int64_t pad, uint64_t seed) {
  const Tensor wide({rows, columns + pad});
  fill_uniform(wide, {.seed = seed}, -1, 1);
  return wide.column_block(pad / 2, pad / 2 + columns);
}

TEST(Gemm, AgreesWithAPlainLoop) {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size size : {Size{1, 1, 1}, {3, 5, 4}, {1, 17, 33}, {20, 1, 6}, {33, 40, 65}})
    for (Transpose transpose_a : {Transpose::no, Transpose::yes})
      for (Transpose transpose_b : {Transpose::no, Transpose::yes})
        for (int64_t pad : {0, 3})
          for (real beta : {0, 1, -2}) {
            const auto [m, n, k] = size;
            const bool ta = transpose_a == Transpose::yes, tb = transpose_b == Transpose::yes;
            const Tensor a = ta ? random_block(k, m, pad, 1) : random_block(m, k, pad, 1);
            const Tensor b = tb ? random_block(n, k, pad, 2) : random_block(k, n, pad, 2);
            const Tensor c = random_block(m, n, pad, 3), before = clone(c);
            gemm(a, transpose_a, b, transpose_b, beta, c);
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j) {
                double expected = static_cast<double>(beta) * before.data()[i * n + j];
                for (int64_t l = 0; l < k; ++l)
                  expected += static_cast<double>(ta ? a.data()[l * a.row_stride() + i]
                                                     : a.data()[i * a.row_stride() + l]) *
                              (tb ? b.data()[j * b.row_stride() + l] : b.data()[l * b.row_stride() + j]);
                ASSERT_NEAR(c.data()[i * c.row_stride() + j], expected, 1e-5) << m << " " << n << " " << k;
              }
          }
}

TEST(Gemm, WithoutInnerTermsOnlyScales) {
  const Tensor c = Tensor::filled({2, 3}, 4);
  gemm(Tensor({2, 0}), Transpose::no, Tensor({0, 3}), Transpose::no, real(0.5), c);
  EXPECT_EQ(c.to_vector(), std::vector<real>(6, 2));
}

TEST(Gemm, OverwritesNaNWhenBetaIsZero) {
  const Tensor c = Tensor::filled({2, 3}, std::numeric_limits<real>::quiet_NaN());
  gemm(Tensor::filled({2, 4}, 1), Transpose::no, Tensor::filled({4, 3}, 1), Transpose::no, 0, c);
  EXPECT_EQ(c.to_vector(), std::vector<real>(6, 4));
}

TEST(Gemm, ErrorsNameTheShapes) {
  EXPECT_EQ(error_of([] {
              gemm(Tensor({2, 3}), Transpose::yes, Tensor({3, 4}), Transpose::no, 0, Tensor({3, 4}));
            }),
            "[gemm] [2, 3]^T times [3, 4] does not give [3, 4]");
  EXPECT_EQ(error_of([] {
              gemm(Tensor({2, 3}), Transpose::no, Tensor({4, 3}), Transpose::yes, 0, Tensor({4, 2}));
            }),
            "[gemm] [2, 3] times [4, 3]^T does not give [4, 2]");
}

TEST(Blas, UsesTheKernelsOfThisProcessor) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  for (const char* slow :
       {"Prescott", "Generic", "generic", "Core2", "Nehalem", "Penryn", "Dunnington", "Katmai"})
    EXPECT_NE(blas_kernel(), slow) << "the choice of kernels came too late; see tensor/gemm.cpp";
#else
  EXPECT_FALSE(blas_kernel().empty());
#endif
}

}  // namespace
}  // namespace rondo
