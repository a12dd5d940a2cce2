// Products in bf16 against sums in double of operands that are rounded in another way, and every way to
// compute them against each other, bit for bit.
#include "tensor/precision.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tensor/gemm.h"
#include "tensor/random.h"

namespace rondo {
namespace {

class Bf16 : public testing::Test {
 protected:
  Bf16() { set_precision(Precision::bf16); }
  ~Bf16() override { set_precision(Precision::fp32); }
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
                          {300, 5, 385},
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
  const Tensor x({rows, columns});
  fill_uniform(x, {.seed = seed}, 0, 1);
  real* const values = x.mutable_data();
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto bits = static_cast<uint32_t>(double(values[i]) * 4294967296.0);
    // Mostly exponents of which products are around 2^-126, some of any size.
    const uint32_t exponent = i % 97 == 0 ? bits >> 3 & 0xff : 40 + bits % 60;
    values[i] = std::bit_cast<float>((bits & 0x807fffff) | exponent << 23);
  }
  return x;
}

TEST_F(Bf16, AllWaysGiveTheSameBits) {
  const std::vector<Multiplication> all = multiplications_of_bf16();
  if (all.size() == 1) GTEST_SKIP() << "this CPU has one way only";
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
  set_precision(Precision::fp32);
  weight_gemm(x, weight, Transpose::no, {}, between);
  set_precision(Precision::bf16);
  weight_gemm(x, weight, Transpose::no, {}, after);
  EXPECT_EQ(before.to_vector(), after.to_vector());
  EXPECT_NE(before.to_vector(), between.to_vector());
}

TEST(Precision, ThereIsAlwaysAWayToComputeInBf16) {
  EXPECT_GE(speedup_of_bf16(), 1);
  EXPECT_TRUE(fastest_multiplication_of_bf16().rounded);
  set_precision(Precision::fp32);
  EXPECT_FALSE(multiplication().rounded);
}

}  // namespace
}  // namespace rondo
