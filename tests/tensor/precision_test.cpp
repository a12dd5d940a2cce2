// Products in bf16 against sums in double of operands that are rounded in another way, and every way to
// compute them against each other, bit for bit.
#include "tensor/precision.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "tensor/gemm.h"
#include "tensor/random.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

class Bf16 : public testing::Test {
  const WithPrecision in_bf16_{Precision::bf16};
};

/// To 8 bits of significand, ties to even, by the C library's arithmetic.
double to_8_bits(double x) {
  int exponent;
  const double significand = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, 8)), exponent - 8);
}

/// What op(x) has in this place.
double element(const Tensor& x, Transpose transpose, int64_t i, int64_t j) {
  return transpose == Transpose::yes ? x.data()[j * x.row_stride() + i] : x.data()[i * x.row_stride() + j];
}

Tensor random_operand(int64_t rows, int64_t columns, Transpose transpose, uint64_t seed) {
  const bool t = transpose == Transpose::yes;
  const Tensor wide({t ? columns : rows, (t ? rows : columns) + 3});
  fill_uniform(wide, {.seed = seed}, -1, 1);
  return wide.slice_columns(1, wide.columns() - 2);
}

TEST_F(Bf16, ProductsAreSumsOfRoundedOperands) {
  struct Size {
    int64_t m, n, k;
  };
  for (const Size size : {Size{1, 1, 1},
                          {3, 5, 4},
                          {1, 17, 33},
                          {20, 1, 6},
                          {33, 40, 65},
                          {255, 5, 127},
                          {256, 5, 128},
                          {300, 5, 385},
                          {300, 4, 1024},
                          {257, 40, 769},
                          {20, 40, 769},
                          {30, 129, 130}})
    for (Transpose transpose_a : {Transpose::no, Transpose::yes})
      for (Transpose transpose_b : {Transpose::no, Transpose::yes})
        for (real beta : {0, 1, -2}) {
          const auto [m, n, k] = size;
          const Tensor a = random_operand(m, k, transpose_a, 1), b = random_operand(k, n, transpose_b, 2);
          const Tensor c = random_operand(m, n, Transpose::no, 3), before = clone(c);
          gemm(a, transpose_a, b, transpose_b, beta, c);
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              double sum = double(beta) * double(before.data()[i * n + j]), size_of_sum = std::abs(sum);
              for (int64_t l = 0; l < k; ++l) {
                const double term =
                    to_8_bits(element(a, transpose_a, i, l)) * to_8_bits(element(b, transpose_b, l, j));
                sum += term;
                size_of_sum += std::abs(term);
              }
              // Each of k sums in float rounds by half a unit in the last place of a partial sum.
              ASSERT_NEAR(c.data()[i * c.row_stride() + j], sum, double(k + 2) * std::ldexp(size_of_sum, -24))
                  << m << " " << n << " " << k << " beta " << beta;
            }
        }
}

/// x times 1, which shows how an operand is rounded.
float rounded(float x) {
  const Tensor c({1, 1});
  gemm(Tensor::from({x}, {1, 1}), Transpose::no, Tensor::filled({1, 1}, 1), Transpose::no, 0, c);
  return c.data()[0];
}

TEST_F(Bf16, OperandsAreRoundedToNearestTiesToEven) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::max();
  const float below_half = std::nextafter(1.00390625f, 0.0f), above_half = std::nextafter(1.00390625f, 2.0f);
  for (const Multiplication& by : multiplications_of_bf16()) {
    multiply_by(by);
    EXPECT_EQ(rounded(1.0078125f), 1.0078125f) << name_of(by);  // 1 + 2^-7
    EXPECT_EQ(rounded(1.00390625f), 1.0f) << name_of(by);       // half way: to the even 1
    EXPECT_EQ(rounded(below_half), 1.0f) << name_of(by);
    EXPECT_EQ(rounded(above_half), 1.0078125f) << name_of(by);
    EXPECT_EQ(rounded(1.01171875f), 1.015625f) << name_of(by);  // half way: to the even 1 + 2^-6
    EXPECT_EQ(rounded(-1.01171875f), -1.015625f) << name_of(by);
    EXPECT_EQ(rounded(infinity), infinity) << name_of(by);
    EXPECT_EQ(rounded(-most), -infinity) << name_of(by);
    EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0x7f800001)))) << name_of(by);
    EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0xffffffff)))) << name_of(by);
    EXPECT_EQ(rounded(0x1p-126f), 0x1p-126f) << name_of(by);
    EXPECT_EQ(rounded(std::nextafter(0x1p-126f, 0.0f)), 0.0f) << name_of(by);  // subnormal
  }
}

/// Bits of all kinds: subnormal numbers, infinities and NaN among them.
Tensor of_random_bits(int64_t rows, int64_t columns, uint64_t seed) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), normal = 0x1p-126f;
  const float special[] = {infinity,
                           -infinity,
                           std::numeric_limits<float>::quiet_NaN(),
                           0.0f,
                           -0.0f,
                           normal,
                           -normal,
                           std::nextafter(normal, 0.0f),
                           std::nextafter(normal, 1.0f)};
  const Tensor x({rows, columns});
  fill_uniform(x, {.seed = seed}, 0, 1);
  real* const values = x.mutable_data();
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto bits = static_cast<uint32_t>(double(values[i]) * 4294967296.0);
    // Mostly exponents of which products are around 2^-126, some of any size.
    const uint32_t exponent = i % 97 == 0 ? bits >> 3 & 0xff : 40 + bits % 60;
    values[i] = std::bit_cast<float>((bits & 0x807fffff) | exponent << 23);
    if (i % 89 == 0) values[i] = special[static_cast<uint64_t>(i / 89) % std::size(special)];
  }
  return x;
}

TEST_F(Bf16, AllWaysGiveTheSameBits) {
  std::vector<Multiplication> all = multiplications_of_bf16();
#ifndef __FMA__
  all.pop_back();  // as compiled: products are rounded before they are added
#endif
  if (all.size() < 2) GTEST_SKIP() << "this CPU has one way only";
  for (const int64_t k : {1, 2, 37, 384, 385, 1000})
    for (const bool any_bits : {false, true})
      for (Transpose transpose_a : {Transpose::no, Transpose::yes})
        for (Transpose transpose_b : {Transpose::no, Transpose::yes}) {
          constexpr int64_t m = 31, n = 75;
          const auto operand = [&](int64_t rows, int64_t columns, Transpose transpose, uint64_t seed) {
            if (!any_bits) return random_operand(rows, columns, transpose, seed);
            return transpose == Transpose::yes ? of_random_bits(columns, rows, seed)
                                               : of_random_bits(rows, columns, seed);
          };
          const Tensor a = operand(m, k, transpose_a, 1), b = operand(k, n, transpose_b, 2);
          std::vector<std::vector<real>> products;
          for (const Multiplication& by : all) {
            multiply_by(by);
            const Tensor c({m, n});
            gemm(a, transpose_a, b, transpose_b, 0, c);
            products.push_back(c.to_vector());
          }
          for (size_t way = 1; way < all.size(); ++way)
            for (size_t i = 0; i < products[0].size(); ++i) {
              const float one = products[0][i], other = products[way][i];
              if (!std::isnan(one) || !std::isnan(other)) {  // of NaN only that it is one
                ASSERT_EQ(std::bit_cast<uint32_t>(one), std::bit_cast<uint32_t>(other))
                    << name_of(all[0]) << ", " << name_of(all[way]) << ", " << k << " terms";
              }
            }
        }
}

TEST_F(Bf16, AKeptCopyIsOfTheRightPrecision) {
  const Tensor x = random_operand(5, 40, Transpose::no, 1), weight = random_operand(40, 30, Transpose::no, 2);
  const Tensor before({5, 30}), between({5, 30}), after({5, 30});
  weight_gemm(x, weight, Transpose::no, {}, before);
  {
    const WithPrecision in_fp32(Precision::fp32);
    weight_gemm(x, weight, Transpose::no, {}, between);
  }
  weight_gemm(x, weight, Transpose::no, {}, after);
  EXPECT_EQ(before.to_vector(), after.to_vector());
  EXPECT_NE(before.to_vector(), between.to_vector());
}

TEST_F(Bf16, ValuesDependNeitherOnThreadsNorOnTheOtherRows) {
  constexpr int64_t k = 900;
  const int before = threads();
  for (const int64_t m : {40, 300})
    for (const Transpose transpose_a : {Transpose::no, Transpose::yes}) {
      const Tensor a = random_operand(m, k, transpose_a, 1), b = random_operand(k, 70, Transpose::no, 2);
      const Tensor one({m, 70}), three({m, 70}), row({1, 70});
      set_threads(1);
      gemm(a, transpose_a, b, Transpose::no, 0, one);
      set_threads(3);
      gemm(a, transpose_a, b, Transpose::no, 0, three);
      EXPECT_EQ(one.to_vector(), three.to_vector());
      if (transpose_a == Transpose::no) {
        gemm(a.slice_rows(17, 18), Transpose::no, b, Transpose::no, 0, row);
        EXPECT_EQ(one.slice_rows(17, 18).to_vector(), row.to_vector());
      }
    }
  set_threads(before);
}

TEST_F(Bf16, ABatchIsItsProducts) {
  constexpr int64_t N = 7, m = 12, n = 35, k = 50;
  for (Transpose transpose_a : {Transpose::no, Transpose::yes})
    for (Transpose transpose_b : {Transpose::no, Transpose::yes})
      for (real beta : {0, 1, -2}) {
        const bool ta = transpose_a == Transpose::yes, tb = transpose_b == Transpose::yes;
        const Tensor a({N, ta ? k : m, ta ? m : k}), b({N, tb ? n : k, tb ? k : n}), c({N, m, n});
        fill_uniform(a, {.seed = 1}, -1, 1);
        fill_uniform(b, {.seed = 2}, -1, 1);
        fill_uniform(c, {.seed = 3}, -1, 1);
        const Tensor each = clone(c);
        batched_gemm(a, transpose_a, b, transpose_b, beta, c);
        for (int64_t i = 0; i < N; ++i) gemm(a[i], transpose_a, b[i], transpose_b, beta, each[i]);
        EXPECT_EQ(c.to_vector(), each.to_vector());
      }
}

TEST_F(Bf16, AStartRowIsAddedToEachRow) {
  const Tensor x = random_operand(9, 70, Transpose::no, 1), weight = random_operand(40, 70, Transpose::no, 2);
  const Tensor bias = random_operand(1, 40, Transpose::no, 3), with({9, 40}), without({9, 40});
  weight_gemm(x, weight, Transpose::yes, bias, with);
  weight_gemm(x, weight, Transpose::yes, {}, without);
  for (int64_t i = 0; i < 9; ++i)
    for (int64_t j = 0; j < 40; ++j)
      EXPECT_NEAR(with.data()[i * 40 + j], without.data()[i * 40 + j] + bias.data()[j], 1e-5);
}

TEST_F(Bf16, LeavesSubnormalNumbersToOthers) {
  rounded(1);
  volatile float smallest_normal = 0x1p-126f;
  EXPECT_GT(smallest_normal * 0.5f, 0.0f);
}

// In fp32, too, the kernels of each instruction set: a CPU chooses one.
TEST(Precision, AllKernelsOfNumbersAgreeInFp32) {
  const Tensor a = random_operand(31, 500, Transpose::no, 1), b = random_operand(500, 75, Transpose::no, 2);
  std::vector<std::vector<real>> products;
  for (const Multiplication& by : multiplications_of_bf16()) {
    if (by.kernels->word == Word::pair) continue;
    multiply_by({by.kernels, false});
    const Tensor c({31, 75});
    weight_gemm(a, b, Transpose::no, {}, c);
    products.push_back(c.to_vector());
  }
  set_precision(Precision::fp32);
  for (size_t i = 0; i < products[0].size(); ++i) {
    double sum = 0;
    for (int64_t l = 0; l < 500; ++l)
      sum += element(a, Transpose::no, static_cast<int64_t>(i) / 75, l) *
             element(b, Transpose::no, l, static_cast<int64_t>(i) % 75);
    for (const auto& product : products) ASSERT_NEAR(product[i], sum, 1e-4);
  }
}

TEST(Precision, AnInstructionOfBf16IsTakenWhereItPays) {
  const bool pairs = fastest_multiplication_of_bf16().kernels->word == Word::pair;
  EXPECT_EQ(pairs, speedup_of_bf16() > 1);
  EXPECT_TRUE(fastest_multiplication_of_bf16().rounded);
  {
    const WithPrecision in_bf16(Precision::bf16);
    EXPECT_EQ(multiplication(), fastest_multiplication_of_bf16());
  }
  EXPECT_EQ(precision(), Precision::fp32);
  EXPECT_EQ(multiplication(), multiplication_of_fp32());
}

}  // namespace
}  // namespace rondo
