// Products in bf16 against sums in double of operands that are rounded in another way, and every way to
// compute them against each other, bit for bit.
#include "tensor/products/precision.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string>

#include "tensor/products/gemm.h"
#include "tensor/products/packed_gemm.h"
#include "tensor/random.h"
#include "tensor/threads.h"

namespace rondo {

extern const TileKernels kernels_of_emulated_amx;  // tensor/products/amx_kernels.cpp over emulated_amx.h

namespace {

class Bf16 : public testing::Test {
  const WithPrecision in_bf16_{Precision::bf16};
};

/// This CPU's ways and, on every machine, an emulated AMX.
std::vector<Multiplication> all_multiplications() {
  std::vector<Multiplication> all = multiplications_of_bf16();
  all.push_back({&kernels_of_emulated_amx, true});
  return all;
}
bool is_amx(const Multiplication& it) { return name_of(it) == name_of({&kernels_of_emulated_amx, true}); }
/// AMX, if this CPU has it, and the emulated one.
std::vector<Multiplication> multiplications_of_amx() {
  std::vector<Multiplication> all = all_multiplications();
  std::erase_if(all, std::not_fn(is_amx));
  return all;
}

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

/// Whether c is beta `start` + op(a) op(b) of rounded operands.
void expect_sums_of_rounded(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                            real beta, Operand start, const Tensor& c) {
  const int64_t m = c.rows(), n = c.columns(), k = transpose_a == Transpose::yes ? a.rows() : a.columns();
  const auto rounded_operand = [](const Tensor& x, Transpose transpose, int64_t rows, int64_t columns) {
    std::vector<double> result;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) result.push_back(to_8_bits(element(x, transpose, i, j)));
    return result;
  };
  const std::vector<double> left = rounded_operand(a, transpose_a, m, k);
  const std::vector<double> right = rounded_operand(b, transpose_b, k, n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = beta == 0 ? 0 : double(beta) * double(start.data[i * start.row_stride + j]);
      double size_of_sum = std::abs(sum);
      // Not by [] of vectors, as tests are not optimised.
      const double *row = left.data(), *column = right.data();
      for (int64_t l = 0; l < k; ++l) {
        const double term = row[i * k + l] * column[l * n + j];
        sum += term;
        size_of_sum += std::abs(term);
      }
      // Each of k sums in float rounds by half a unit in the last place of a partial sum.
      ASSERT_NEAR(c.data()[i * c.row_stride() + j], sum, double(k + 2) * std::ldexp(size_of_sum, -24))
          << m << " " << n << " " << k << " beta " << beta << ", row " << i << ", column " << j;
    }
}

struct Size {
  int64_t m, n, k;
};

TEST_F(Bf16, ProductsAreSumsOfRoundedOperands) {
  for (const Size size : {Size{1, 1, 1},
                          {3, 5, 4},
                          {1, 17, 33},
                          {20, 1, 6},
                          {33, 40, 65},
                          {255, 5, 127},
                          {256, 5, 128},
                          {300, 5, 2049},
                          {300, 4, 1024},
                          {257, 40, 769},
                          {2, 3, 0},
                          {20, 40, 4100},
                          {30, 129, 130}})
    for (Transpose transpose_a : {Transpose::no, Transpose::yes})
      for (Transpose transpose_b : {Transpose::no, Transpose::yes})
        for (real beta : {0, 1, -2}) {
          const auto [m, n, k] = size;
          const Tensor a = random_operand(m, k, transpose_a, 1), b = random_operand(k, n, transpose_b, 2);
          const Tensor c = random_operand(m, n, Transpose::no, 3), before = clone(c);
          gemm(a, transpose_a, b, transpose_b, beta, c);
          expect_sums_of_rounded(a, transpose_a, b, transpose_b, beta, before.read_operand(), c);
          if (HasFatalFailure()) return;
        }
}

// Rows and columns at the edges of registers, words at those of steps and of blocks, each kind of start.
TEST_F(Bf16, AmxComputesTilesOfAllShapes) {
  std::vector<Size> sizes = {{33, 65, 33}, {2, 3, 0}};
  for (const int64_t m : {1, 15, 16, 17, 31, 32, 33})
    for (const int64_t k : {1, 31, 32, 33, 383, 384, 385, 769}) sizes.push_back({m, 18, k});
  for (int64_t n = 1; n <= 33; ++n) sizes.push_back({17, n, 33});
  for (const Multiplication& by : multiplications_of_amx()) {
    multiply_by(by);
    for (const auto [m, n, k] : sizes)
      for (const Transpose transpose_a : {Transpose::no, Transpose::yes})
        for (const Transpose transpose_b : {Transpose::no, Transpose::yes})
          for (const std::string start : {"none", "one row", "c"}) {
            const Tensor a = random_operand(m, k, transpose_a, 1), b = random_operand(k, n, transpose_b, 2);
            const Tensor around({m + 2, n + 2});
            fill_uniform(around, {.seed = 3}, -1, 1);
            const Tensor before = clone(around), c = around.slice_rows(1, m + 1).slice_columns(1, n + 1);
            const Tensor one_row = random_operand(1, n, Transpose::no, 4);
            Operand from, same;  // `same`: what c was
            if (start == "one row") from = same = {one_row.read_operand().data, 0};
            if (start == "c") {
              from = c.read_operand();
              same = before.slice_rows(1, m + 1).slice_columns(1, n + 1).read_operand();
            }
            packed_gemm(a, transpose_a, b, transpose_b, Packing::once, from, c);
            expect_sums_of_rounded(a, transpose_a, b, transpose_b, from.data ? 1 : 0, same, c);
            if (HasFatalFailure()) return;
            for (int64_t i = 0; i < m + 2; ++i)
              for (int64_t j = 0; j < n + 2; ++j)
                if (i == 0 || i > m || j == 0 || j > n) {
                  ASSERT_EQ(around.data()[i * (n + 2) + j], before.data()[i * (n + 2) + j])
                      << "beside c, " << m << " " << n << " " << k;
                }
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
  for (const Multiplication& by : all_multiplications()) {
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

/// Whether all ways compute the same op(a) op(b); of NaN only that it is one.
void expect_same_bits(const std::vector<Multiplication>& ways, const Tensor& a, Transpose transpose_a,
                      const Tensor& b, Transpose transpose_b) {
  const int64_t m = transpose_a == Transpose::yes ? a.columns() : a.rows();
  const int64_t n = transpose_b == Transpose::yes ? b.rows() : b.columns();
  std::vector<real> first;
  for (const Multiplication& by : ways) {
    multiply_by(by);
    const Tensor c({m, n});
    gemm(a, transpose_a, b, transpose_b, 0, c);
    const std::vector<real> product = c.to_vector();
    if (first.empty()) first = product;
    for (size_t i = 0; i < first.size(); ++i) {
      const float one = first[i], other = product[i];
      if (!std::isnan(one) || !std::isnan(other)) {
        ASSERT_EQ(std::bit_cast<uint32_t>(one), std::bit_cast<uint32_t>(other))
            << name_of(ways[0]) << ", " << name_of(by) << " " << m << " " << n << ", element " << i;
      }
    }
  }
}

TEST_F(Bf16, AllWaysButAmxGiveTheSameBits) {
  std::vector<Multiplication> all = multiplications_of_bf16();
  std::erase_if(all, is_amx);
#ifndef __FMA__
  all.pop_back();  // as compiled: products are rounded before they are added
#endif
  if (all.size() < 2) GTEST_SKIP() << "this CPU has one way only";
  for (const int64_t k : {1, 2, 37, 384, 385, 1000, 2049})
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
          expect_same_bits(all, a, transpose_a, b, transpose_b);
          if (HasFatalFailure()) return;
        }
}

TEST_F(Bf16, AmxAndTheEmulatedOneGiveTheSameBits) {
  const std::vector<Multiplication> ways = multiplications_of_amx();
  if (ways.size() < 2) GTEST_SKIP() << "this CPU has no AMX";
  for (const bool any_bits : {false, true}) {
    const Tensor a = any_bits ? of_random_bits(45, 1000, 1) : random_operand(45, 1000, Transpose::no, 1);
    const Tensor b = any_bits ? of_random_bits(1000, 75, 2) : random_operand(1000, 75, Transpose::no, 2);
    expect_same_bits(ways, a, Transpose::no, b, Transpose::no);
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
  for (const Multiplication& by : all_multiplications()) {
    multiply_by(by);
    for (const int64_t m : {40, 300})
      for (const Transpose transpose_a : {Transpose::no, Transpose::yes}) {
        const Tensor a = random_operand(m, k, transpose_a, 1), b = random_operand(k, 70, Transpose::no, 2);
        const Tensor one({m, 70}), three({m, 70}), row({1, 70});
        set_threads(1);
        gemm(a, transpose_a, b, Transpose::no, 0, one);
        set_threads(3);
        gemm(a, transpose_a, b, Transpose::no, 0, three);
        EXPECT_EQ(one.to_vector(), three.to_vector()) << name_of(by);
        if (transpose_a == Transpose::no) {
          gemm(a.slice_rows(17, 18), Transpose::no, b, Transpose::no, 0, row);
          EXPECT_EQ(one.slice_rows(17, 18).to_vector(), row.to_vector()) << name_of(by);
        }
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
        for (const Multiplication& by : all_multiplications()) {
          multiply_by(by);
          const Tensor batch = clone(c), each = clone(c);
          batched_gemm(a, transpose_a, b, transpose_b, beta, batch);
          for (int64_t i = 0; i < N; ++i) gemm(a[i], transpose_a, b[i], transpose_b, beta, each[i]);
          EXPECT_EQ(batch.to_vector(), each.to_vector()) << name_of(by);
        }
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
