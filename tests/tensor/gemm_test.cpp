// Products over all transposes and strides against a plain loop, and which kernels BLAS has chosen.
#include "tensor/products/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/allocator.h"
#include "tensor/products/precision.h"
#include "tensor/random.h"
#include "tensor/threads.h"
#include "tests/tensor/errors.h"
#include "tests/tensor/plain_product.h"

namespace rondo {
namespace {

/// A random [rows, columns] that is a block of a wider matrix when `pad` > 0.
Tensor random_block(int64_t rows, int64_t columns, int64_t pad, uint64_t seed) {
  const Tensor wide({rows, columns + pad});
  fill_uniform(wide, {.seed = seed}, -1, 1);
  return wide.slice_columns(pad / 2, pad / 2 + columns);
}

/// The same values, as a block of a wider matrix.
Tensor padded(const Tensor& x, int64_t pad) {
  const Tensor block = random_block(x.rows(), x.columns(), pad, 4);
  copy(x, block);
  return block;
}

// Both sides of every choice between BLAS and the packed product, full and partial blocks of rows and terms.
TEST(Gemm, AgreesWithAPlainLoop) {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size size : {Size{1, 1, 1},
                          {3, 5, 4},
                          {1, 17, 33},
                          {20, 1, 6},
                          {33, 40, 65},
                          {256, 5, 128},
                          {255, 5, 128},
                          {300, 50, 1025},
                          {300, 40, 1024},
                          {257, 129, 130},
                          {460, 3, 2050}})
    for (Transpose transpose_a : {Transpose::no, Transpose::yes})
      for (Transpose transpose_b : {Transpose::no, Transpose::yes}) {
        const auto [m, n, k] = size;
        const bool ta = transpose_a == Transpose::yes, tb = transpose_b == Transpose::yes;
        const Tensor a = ta ? random_block(k, m, 0, 1) : random_block(m, k, 0, 1);
        const Tensor b = tb ? random_block(n, k, 0, 2) : random_block(k, n, 0, 2);
        const std::vector<double> product =
            plain_product(plain_operand(a, transpose_a), plain_operand(b, transpose_b), m, n, k);
        for (int64_t pad : {0, 3})
          for (const bool add : {false, true}) {
            const Tensor c = random_block(m, n, pad, 3), before = clone(c);
            gemm(padded(a, pad), transpose_a, padded(b, pad), transpose_b, add, c);
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j) {
                const double expected = (add ? static_cast<double>(before.data()[i * n + j]) : 0) +
                                        product[static_cast<size_t>(i * n + j)];
                // k partial sums of a size up to 20 round, each by up to 6e-7 in float, in either direction.
                ASSERT_NEAR(c.data()[i * c.row_stride() + j], expected, 1e-5 + 1e-7 * static_cast<double>(k))
                    << m << " " << n << " " << k;
              }
          }
      }
}

// Also of rows that lie a power of two apart, which each thread spreads for itself.
TEST(Gemm, ValuesDoNotDependOnThreads) {
  const Tensor a = random_block(512, 512, 0, 1), b = random_block(512, 90, 0, 2);
  const int before = threads();
  for (Transpose transpose_a : {Transpose::no, Transpose::yes}) {
    const Tensor one({512, 90}), three({512, 90});
    set_threads(1);
    gemm(a, transpose_a, b, Transpose::no, false, one);
    set_threads(3);
    gemm(a, transpose_a, b, Transpose::no, false, three);
    EXPECT_EQ(one.to_vector(), three.to_vector());
  }
  set_threads(before);
}

TEST(Gemm, OfNoTermsIsZeroOrWhatWasThere) {
  for (const bool add : {false, true}) {
    const Tensor c = Tensor::filled({2, 3}, 4);
    gemm(Tensor({2, 0}), Transpose::no, Tensor({0, 3}), Transpose::no, add, c);
    EXPECT_EQ(c.to_vector(), std::vector<real>(6, add ? 4 : 0));
  }
}

TEST(Gemm, OverwritesNaN) {
  const Tensor c = Tensor::filled({2, 3}, std::numeric_limits<real>::quiet_NaN());
  gemm(Tensor::filled({2, 4}, 1), Transpose::no, Tensor::filled({4, 3}, 1), Transpose::no, false, c);
  EXPECT_EQ(c.to_vector(), std::vector<real>(6, 4));
}

/// weight_gemm() by BLAS alone, row by row: its oracle. One row gemm() always gives to BLAS.
Tensor by_blas(const Tensor& x, const Tensor& weight, Transpose transpose, const Tensor& start,
               const Tensor& like) {
  const Tensor c = Tensor::zeros({like.rows(), like.columns()});
  if (start.defined() && start.rows() == 1)
    broadcast_rows(start, c);
  else if (start.defined())
    copy(start, c);
  for (int64_t i = 0; i < x.rows(); ++i)
    gemm(x.slice_rows(i, i + 1), Transpose::no, weight, transpose, true, c.slice_rows(i, i + 1));
  return c;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<real> x = a.to_vector(), y = b.to_vector();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(double(x[i]) - double(y[i])));
  return x.size() == y.size() ? largest : INFINITY;
}

// Every height and width of a tile, blocks of inner terms that are full and not, rows that lie apart.
TEST(WeightGemm, AgreesWithBlas) {
  for (int64_t rows : {1, 2, 5, 6, 7, 13, 14, 15, 29, 255, 256, 257})
    for (int64_t columns : {1, 15, 16, 17, 31, 32, 33, 100})
      for (int64_t inner : {1, 40, 512, 1025, 2050})
        for (Transpose transpose : {Transpose::no, Transpose::yes}) {
          const bool t = transpose == Transpose::yes;
          const Tensor x = random_block(rows, inner, inner == 512 ? 0 : 3, 1),
                       c = random_block(rows, columns, 2, 4);
          const Tensor weight = t ? random_block(columns, inner, 5, 2) : random_block(inner, columns, 5, 2);
          const Tensor whole = random_block(rows, columns, 1, 3), row = whole.slice_rows(0, 1);
          std::vector<Tensor> starts = {whole};
          if (inner == 40) starts = {Tensor(), whole, row, c};
          for (const Tensor& start : starts) {
            const Tensor expected = by_blas(x, weight, transpose, start, c);
            weight_gemm(x, weight, transpose, start, c);
            // Two orders of summing `inner` products of size 1 differ by rounding alone.
            ASSERT_LE(largest_difference(c, expected), 3e-7 * static_cast<double>(inner) + 1e-6)
                << rows << "x" << columns << "x" << inner << (t ? " T" : " N");
          }
        }
}

TEST(WeightGemm, SeesAWeightThatWasWritten) {
  const Tensor x = random_block(3, 20, 0, 1), weight = random_block(20, 30, 0, 2), c({3, 30});
  for (int round = 0; round < 2; ++round) {
    for (Transpose transpose : {Transpose::no, Transpose::yes}) {
      const Tensor w = transpose == Transpose::no ? weight : weight.reshaped({30, 20});
      weight_gemm(x, w, transpose, {}, c);
      EXPECT_LE(largest_difference(c, by_blas(x, w, transpose, {}, c)), 1e-5);
    }
    scale(weight, -3);
  }
}

// Each of slices that overlap.
TEST(WeightGemm, KeepsPacksOfBoundedSize) {
  const Tensor all = random_block(400, 200, 0, 2), x = random_block(3, 200, 0, 1), c({3, 200});
  const size_t before = memory_statistics(Device::cpu).bytes_in_use;
  for (int64_t begin = 0; begin < 200; ++begin)
    weight_gemm(x, all.slice_rows(begin, begin + 200), Transpose::yes, {}, c);
  EXPECT_LE(memory_statistics(Device::cpu).bytes_in_use - before, 6 * all.size() * sizeof(real));
  EXPECT_LE(largest_difference(c, by_blas(x, all.slice_rows(199, 399), Transpose::yes, {}, c)), 1e-4);
}

// Threads take tiles of each other, differently in each run; 2500 terms are several blocks; five rows are one
// tile. Every second time the weight is read from its last panel to its first.
TEST(WeightGemm, ValuesDependNeitherOnThreadsNorOnTheOtherRows) {
  const int before = threads();
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    for (const int64_t terms : {300, 2500}) {
      const WithPrecision in(precision);
      const Tensor x = random_block(40, terms, 0, 1), weight = random_block(700, terms, 0, 2),
                   start = random_block(40, 700, 0, 3), one({40, 700}), shared({40, 700}), row({1, 700}),
                   few({5, 700});
      set_threads(1);
      weight_gemm(x, weight, Transpose::yes, start, one);
      weight_gemm(x.slice_rows(17, 18), weight, Transpose::yes, start.slice_rows(17, 18), row);
      EXPECT_EQ(one.slice_rows(17, 18).to_vector(), row.to_vector());
      for (const int count : {2, 3}) {
        set_threads(count);
        int different = 0;
        for (int run = 0; run < 20; ++run) {
          fill(shared, -1);
          weight_gemm(x, weight, Transpose::yes, start, shared);
          different += shared.to_vector() != one.to_vector();
          fill(few, -1);
          weight_gemm(x.slice_rows(3, 8), weight, Transpose::yes, start.slice_rows(3, 8), few);
          different += few.to_vector() != one.slice_rows(3, 8).to_vector();
          if (run % 3 == 0) weight_gemm(x.slice_rows(0, 1), weight, Transpose::yes, {}, row);  // other turns
        }
        EXPECT_EQ(different, 0) << name_of(multiplication()) << ", " << terms << " terms, threads: " << count;
      }
    }
  set_threads(before);
}

TEST(WeightGemm, RefusesAStartThatDoesNotFit) {
  EXPECT_THROW(weight_gemm(Tensor({2, 3}), Tensor({4, 3}), Transpose::yes, Tensor({3, 4}), Tensor({2, 4})),
               Error);
  EXPECT_THROW(weight_gemm(Tensor({2, 3}), Tensor({4, 3}), Transpose::no, {}, Tensor({2, 4})), Error);
}

TEST(Gemm, ErrorsNameTheShapes) {
  EXPECT_EQ(any_error_of([] {
              gemm(Tensor({2, 3}), Transpose::yes, Tensor({3, 4}), Transpose::no, false, Tensor({3, 4}));
            }),
            "[gemm] [2, 3]^T times [3, 4] does not give [3, 4]");
  EXPECT_EQ(any_error_of([] {
              gemm(Tensor({2, 3}), Transpose::no, Tensor({4, 3}), Transpose::yes, false, Tensor({4, 2}));
            }),
            "[gemm] [2, 3] times [4, 3]^T does not give [4, 2]");
}

TEST(Blas, UsesTheKernelsOfThisProcessor) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  for (const char* slow :
       {"Prescott", "Generic", "generic", "Core2", "Nehalem", "Penryn", "Dunnington", "Katmai"})
    EXPECT_NE(blas_kernel(), slow) << "the choice of kernels came too late; see tensor/products/blas.cpp";
#else
  EXPECT_FALSE(blas_kernel().empty());
#endif
}

}  // namespace
}  // namespace rondo
