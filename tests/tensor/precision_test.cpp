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
#include "tests/tensor/plain_product.h"

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

/// To 8 bits of significand, ties to even, by the C library's arithmetic.
double to_8_bits(double x) {
  int exponent;
  const double significand = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, 8)), exponent - 8);
}

Tensor random_operand(int64_t rows, int64_t columns, Transpose transpose, uint64_t seed) {
  const bool t = transpose == Transpose::yes;
  const Tensor wide({t ? columns : rows, (t ? rows : columns) + 3});
  fill_uniform(wide, {.seed = seed}, -1, 1);
  return wide.slice_columns(1, wide.columns() - 2);
}

struct Size {
  int64_t m, n, k;
};
/// Rows and columns at the edges of registers, words at those of steps and of blocks.
std::vector<Size> sizes_of_products() {
  std::vector<Size> sizes = {{1, 1, 1},      {3, 5, 4},      {2, 3, 0},      {33, 65, 33},
                             {256, 5, 128},  {300, 5, 2049}, {300, 4, 1024}, {257, 40, 769},
                             {20, 40, 4100}, {30, 129, 130}, {33, 18, 1152}, {33, 18, 1153}};
  for (const int64_t m : {1, 15, 16, 17, 31, 32, 33})
    for (const int64_t k : {1, 31, 32, 33, 383, 384, 385, 769}) sizes.push_back({m, 18, k});
  for (int64_t n = 1; n <= 33; ++n) sizes.push_back({17, n, 33});
  return sizes;
}

/// op(a) op(b) of rounded operands in double, and how far a sum in float may be from it.
struct PlainProduct {
  PlainProduct(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
               const Size& it) {
    std::vector<double> left = plain_operand(a, transpose_a), right = plain_operand(b, transpose_b);
    for (std::vector<double>* operand : {&left, &right})
      for (double& x : *operand) x = to_8_bits(x);
    sums = plain_product(left, right, it.m, it.n, it.k);
    for (std::vector<double>* operand : {&left, &right})
      for (double& x : *operand) x = std::abs(x);
    // Each of k sums in float rounds by half a unit in the last place of a partial sum; 1: of a start.
    for (const double size_of_sum : plain_product(left, right, it.m, it.n, it.k))
      apart.push_back(double(it.k + 2) * std::ldexp(1 + size_of_sum, -24));
  }
  std::vector<double> sums, apart;
};

// With each kind of start, into a matrix that lies within another, whose other numbers stay.
TEST_F(Bf16, ProductsAreSumsOfRoundedOperands) {
  for (const auto& [m, n, k] : sizes_of_products())
    for (const Transpose transpose_a : {Transpose::no, Transpose::yes})
      for (const Transpose transpose_b : {Transpose::no, Transpose::yes}) {
        const Tensor a = random_operand(m, k, transpose_a, 1), b = random_operand(k, n, transpose_b, 2);
        const PlainProduct plain(a, transpose_a, b, transpose_b, {m, n, k});
        const Tensor before({m + 2, n + 2}), one_row = random_operand(1, n, Transpose::no, 4);
        fill_uniform(before, {.seed = 3}, -1, 1);
        for (const Multiplication& by : all_multiplications())
          for (const std::string start : {"none", "one row", "c"}) {
            multiply_by(by);
            const Tensor around = clone(before), c = around.slice_rows(1, m + 1).slice_columns(1, n + 1);
            const Operand from = start == "none"      ? Operand{}
                                 : start == "one row" ? Operand{one_row.read_operand().data, 0}
                                                      : c.read_operand();
            packed_gemm(a, transpose_a, b, transpose_b, Packing::once, from, c);
            for (int64_t i = 0; i < m + 2; ++i)
              for (int64_t j = 0; j < n + 2; ++j) {
                const int64_t place = i * (n + 2) + j;
                const bool beside = i == 0 || i > m || j == 0 || j > n;
                double expected = start == "c" || beside ? double(before.data()[place]) : 0, apart = 0;
                if (!beside) {
                  if (start == "one row") expected = double(one_row.data()[j - 1]);
                  expected += plain.sums[static_cast<size_t>((i - 1) * n + j - 1)];
                  apart = plain.apart[static_cast<size_t>((i - 1) * n + j - 1)];
                }
                ASSERT_NEAR(around.data()[place], expected, apart)
                    << name_of(by) << ", " << m << " " << n << " " << k << ", start: " << start << ", row "
                    << i - 1 << ", column " << j - 1;
              }
          }
      }
}

/// x times 1, which shows how an operand is rounded.
float rounded(float x) {
  const Tensor c({1, 1});
  gemm(Tensor::from({x}, {1, 1}), Transpose::no, Tensor::filled({1, 1}, 1), Transpose::no, false, c);
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
    gemm(a, transpose_a, b, transpose_b, false, c);
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
  std::vector<Multiplication> ways = all_multiplications();
  std::erase_if(ways, std::not_fn(is_amx));
  if (ways.size() < 2) GTEST_SKIP() << "this CPU has no AMX";
  const Tensor a = of_random_bits(45, 1000, 1), b = of_random_bits(1000, 75, 2);
  expect_same_bits(ways, a, Transpose::no, b, Transpose::no);
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
        gemm(a, transpose_a, b, Transpose::no, false, one);
        set_threads(3);
        gemm(a, transpose_a, b, Transpose::no, false, three);
        EXPECT_EQ(one.to_vector(), three.to_vector()) << name_of(by);
        if (transpose_a == Transpose::no) {
          gemm(a.slice_rows(17, 18), Transpose::no, b, Transpose::no, false, row);
          EXPECT_EQ(one.slice_rows(17, 18).to_vector(), row.to_vector()) << name_of(by);
        }
      }
  }
  set_threads(before);
}

// Every second time from the last panel to the first; five rows are one tile, which is multiplied with all
// blocks of terms before the next one.
TEST_F(Bf16, AKeptCopyGivesTheSameBitsInBothOrders) {
  constexpr int64_t n = 150, k = 2500;
  const int before = threads();
  const Tensor b = random_operand(k, n, Transpose::no, 2);
  for (const Multiplication& by : all_multiplications())
    for (const int64_t m : {5, 40}) {
      multiply_by(by);
      const Tensor a = random_operand(m, k, Transpose::no, 1), once({m, n}), kept({m, n});
      set_threads(1);
      packed_gemm(a, Transpose::no, b, Transpose::no, Packing::once, {}, once);
      for (const int count : {1, 3}) {
        set_threads(count);
        for (int run = 0; run < 4; ++run) {
          fill(kept, -1);
          packed_gemm(a, Transpose::no, b, Transpose::no, Packing::kept, {}, kept);
          EXPECT_EQ(once.to_vector(), kept.to_vector())
              << name_of(by) << ", " << m << " rows, threads: " << count << ", run " << run;
        }
      }
    }
  set_threads(before);
}

// In fp32, too; of the larger ones all threads compute each.
TEST_F(Bf16, ABatchIsItsProducts) {
  constexpr int64_t N = 7;
  std::vector<Multiplication> ways = all_multiplications();
  ways.push_back(multiplication_of_fp32());
  for (const auto& [m, n, k] : {Size{12, 35, 50}, {80, 70, 60}})
    for (Transpose transpose_a : {Transpose::no, Transpose::yes})
      for (Transpose transpose_b : {Transpose::no, Transpose::yes})
        for (const bool add : {false, true}) {
          const bool ta = transpose_a == Transpose::yes, tb = transpose_b == Transpose::yes;
          const Tensor a({N, ta ? k : m, ta ? m : k}), b({N, tb ? n : k, tb ? k : n}), c({N, m, n});
          fill_uniform(a, {.seed = 1}, -1, 1);
          fill_uniform(b, {.seed = 2}, -1, 1);
          fill_uniform(c, {.seed = 3}, -1, 1);
          for (const Multiplication& by : ways) {
            multiply_by(by);
            const Tensor batch = clone(c), each = clone(c);
            batched_gemm(a, transpose_a, b, transpose_b, add, batch);
            for (int64_t i = 0; i < N; ++i) gemm(a[i], transpose_a, b[i], transpose_b, add, each[i]);
            EXPECT_EQ(batch.to_vector(), each.to_vector()) << name_of(by);
          }
        }
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
  const std::vector<double> sums =
      plain_product(plain_operand(a, Transpose::no), plain_operand(b, Transpose::no), 31, 75, 500);
  for (const auto& product : products)
    for (size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(product[i], sums[i], 1e-4);
}

TEST(Precision, AnInstructionOfBf16IsTakenWhereItPays) {
  const auto& [fastest, speedup] = fastest_bf16();
  EXPECT_EQ(fastest.kernels->word == Word::pair, speedup > 1);
  EXPECT_TRUE(fastest.rounded);
  {
    const WithPrecision in_bf16(Precision::bf16);
    EXPECT_EQ(multiplication(), fastest);
  }
  EXPECT_EQ(precision(), Precision::fp32);
  EXPECT_EQ(multiplication(), multiplication_of_fp32());
}

}  // namespace
}  // namespace rondo
