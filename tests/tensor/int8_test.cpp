// Products in int8: every way to compute them against integers that are added up one by one, bit for bit.
#include "tensor/products/int8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tensor/products/gemm.h"
#include "tensor/products/packed_gemm.h"
#include "tensor/random.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

/// Rows of whole numbers, -127 to 127, and what each is multiplied by, a power of 2, so that nothing is
/// rounded.
struct Integers {
  Integers(int64_t rows, int64_t columns, uint64_t seed) : numbers({rows, columns}) {
    std::mt19937_64 random(seed);
    for (int64_t i = 0; i < rows; ++i) {
      scales.push_back(std::ldexp(1.0, static_cast<int>(random() % 9) - 4));
      auto& row = multiples.emplace_back();
      for (int64_t k = 0; k < columns; ++k) row.push_back(static_cast<int>(random() % 255) - 127);
      if (columns > 0)
        row[random() % row.size()] = random() % 2 == 0 ? 127 : -127;  // the largest sets the scale
    }
    fill_numbers();
  }
  void fill_numbers() const {
    for (size_t i = 0; i < multiples.size(); ++i)
      for (size_t k = 0; k < multiples[i].size(); ++k)
        numbers.mutable_data()[i * multiples[i].size() + k] = static_cast<real>(multiples[i][k] * scales[i]);
  }
  Tensor numbers;
  std::vector<double> scales;
  std::vector<std::vector<int>> multiples;
};

/// Element i, j of x W^T.
float product(const Integers& x, const Integers& weight, size_t i, size_t j) {
  int64_t sum = 0;
  for (size_t k = 0; k < x.multiples[i].size(); ++k)
    sum += int64_t{x.multiples[i][k]} * weight.multiples[j][k];
  return static_cast<float>(sum) * static_cast<float>(x.scales[i] * weight.scales[j]);
}

void expect_products(const Integers& x, const Integers& weight, const std::string& start) {
  const int64_t m = x.numbers.rows(), n = weight.numbers.rows();
  const Tensor before({m + 2, n + 2}), one_row({1, n});
  fill_uniform(before, {.seed = 3}, -1, 1);
  fill_uniform(one_row, {.seed = 4}, -1, 1);
  std::vector<float> sums;
  for (size_t i = 0; i < size_t(m); ++i)
    for (size_t j = 0; j < size_t(n); ++j) sums.push_back(product(x, weight, i, j));
  for (const Multiplication& by : multiplications_of_int8()) {
    const Tensor around = clone(before), c = around.slice_rows(1, m + 1).slice_columns(1, n + 1);
    const Operand from = start == "none"      ? Operand{}
                         : start == "one row" ? Operand{one_row.read_operand().data, 0}
                                              : c.read_operand();
    packed_gemm(x.numbers, Transpose::no, weight.numbers, Transpose::yes, Packing::once, from, c, by);
    for (int64_t i = 0; i < m + 2; ++i)
      for (int64_t j = 0; j < n + 2; ++j) {
        const real old = before.data()[i * (n + 2) + j];
        const bool beside = i == 0 || i > m || j == 0 || j > n;
        const real added = start == "none" ? 0 : start == "one row" && !beside ? one_row.data()[j - 1] : old;
        const real expected = beside ? old : added + sums[static_cast<size_t>((i - 1) * n + j - 1)];
        ASSERT_EQ(around.data()[i * (n + 2) + j], expected)
            << name_of(by) << ", " << m << "x" << n << "x" << x.numbers.columns() << ", start: " << start
            << ", " << i << " " << j;
      }
  }
}

// The sizes are at the edges of registers, tiles and quads.
TEST(Int8, AllKernelsAddUpTheSameIntegers) {
  std::vector<std::array<int64_t, 3>> sizes = {
      {1, 1, 1}, {2, 3, 0}, {300, 5, 70}, {20, 129, 1030}, {1, 700, 400}};
  for (const int64_t m : {1, 2, 3, 4, 5, 13, 14, 15, 16, 29})
    for (const int64_t n : {1, 8, 15, 16, 17, 31, 32, 33, 65}) sizes.push_back({m, n, 19});
  for (int64_t k = 1; k <= 34; ++k) sizes.push_back({1, 33, k}), sizes.push_back({5, 18, k});
  for (const auto& [m, n, k] : sizes)
    for (const std::string start : {"none", "one row", "c"})
      expect_products(Integers(m, k, 1), Integers(n, k, 2), start);
}

// Where a sum of 16 bits would saturate and one of 32 bits nearly does.
TEST(Int8, TheLargestSumsFit) {
  for (const int64_t terms : {int64_t{2}, int64_t{64}, most_int8_terms})
    for (const int sign : {1, -1}) {
      Integers x(2, terms, 1), weight(17, terms, 2);
      for (auto& row : x.multiples) std::ranges::fill(row, 127);
      for (auto& row : weight.multiples) std::ranges::fill(row, sign * 127);
      x.fill_numbers(), weight.fill_numbers();
      expect_products(x, weight, "none");
    }
}

// Of any numbers all ways give the same, on any number of threads, and rounding costs no more than it may.
TEST(Int8, ProductsOfAnyNumbersAreNearAndEqual) {
  const int64_t m = 40, n = 200, K = 333;
  const Tensor x({m, K}), weight({n, K});
  fill_uniform(x, {.seed = 1}, -3, 2);
  fill_uniform(weight, {.seed = 2}, real(-0.05), real(0.1));
  const int before = threads();
  std::vector<real> first;
  for (const Multiplication& by : multiplications_of_int8())
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      const Tensor c({m, n});
      packed_gemm(x, Transpose::no, weight, Transpose::yes, Packing::once, {}, c, by);
      if (first.empty()) first = c.to_vector();
      EXPECT_EQ(c.to_vector(), first) << name_of(by) << ", threads: " << count;
    }
  set_threads(before);
  const auto half_step = [&](const Tensor& of, int64_t row) {
    double largest = 0;
    for (int64_t k = 0; k < K; ++k) largest = std::max(largest, std::abs(double(of.data()[row * K + k])));
    return largest / 127 / 2 * 1.0001;
  };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, apart = 1e-5;
      const double of_x = half_step(x, i), of_weight = half_step(weight, j);
      for (int64_t k = 0; k < K; ++k) {
        const double a = x.data()[i * K + k], w = weight.data()[j * K + k];
        sum += a * w;
        apart += of_x * std::abs(w) + of_weight * std::abs(a) + of_x * of_weight;
      }
      ASSERT_NEAR(first[static_cast<size_t>(i * n + j)], sum, apart) << i << " " << j;
    }
}

TEST(Int8, WhatIsNotFiniteStaysInItsRowAndItsColumn) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {inf, -inf, nan, -nan})
    for (const Multiplication& by : multiplications_of_int8()) {
      const Integers x(5, 21, 1), weight(40, 21, 2);
      x.numbers.mutable_data()[3 * 21 + 20] = bad;
      weight.numbers.mutable_data()[37 * 21] = bad;
      const Tensor c({5, 40});
      packed_gemm(x.numbers, Transpose::no, weight.numbers, Transpose::yes, Packing::once, {}, c, by);
      for (size_t i = 0; i < 5; ++i)
        for (size_t j = 0; j < 40; ++j)
          if (i == 3 || j == 37)
            EXPECT_TRUE(std::isnan(c.data()[i * 40 + j])) << name_of(by) << " " << i << " " << j;
          else
            EXPECT_EQ(c.data()[i * 40 + j], product(x, weight, i, j)) << name_of(by);
    }
}

TEST(Int8, RoundingIsToTheNearestAndRepeatsItself) {
  std::vector<real> row(1000), again(1000);
  std::mt19937_64 random(1);
  for (const float size : {1e-30f, 0.01f, 1.f, 1e30f}) {
    for (real& number : row) number = size * static_cast<real>(double(random() % 2000001) / 1e6 - 1);
    std::vector<int8_t> multiples(1000), multiples_again(1000);
    const float scale = round_to_int8(row.data(), 1000, multiples.data());
    EXPECT_EQ(scale, std::abs(*std::ranges::max_element(row, {}, [](real x) { return std::abs(x); })) / 127);
    for (size_t k = 0; k < 1000; ++k) {
      EXPECT_NEAR(double(row[k]) / scale, multiples[k], 0.50001) << k;
      again[k] = static_cast<float>(multiples[k]) * scale;
    }
    round_to_int8(again.data(), 1000, multiples_again.data());
    EXPECT_EQ(multiples_again, multiples);
  }
  for (const float tiny : {0.f, 1e-40f, 127 * 0.999f * std::numeric_limits<float>::min()}) {
    std::vector<real> small = {tiny, -tiny};
    std::vector<int8_t> multiples(2, 1);
    EXPECT_EQ(round_to_int8(small.data(), 2, multiples.data()), 0) << tiny;
    EXPECT_EQ(multiples, std::vector<int8_t>(2, 0)) << tiny;
  }
}

// In force, it is for x W^T alone; a weight that was written is rounded again.
TEST(Int8, ProductsWithWeightsAreInInt8WhileItIsInForce) {
  const Tensor x({300, 20}), weight({30, 20}), dz({300, 30});
  fill_uniform(x, {.seed = 1}, -1, 1);
  fill_uniform(dz, {.seed = 2}, -1, 1);
  const auto product_of = [](const Tensor& left, const Tensor& right, Transpose transpose) {
    const Tensor c({left.rows(), transpose == Transpose::yes ? right.rows() : right.columns()});
    weight_gemm(left, right, transpose, {}, c);
    return c.to_vector();
  };
  for (const int64_t rows : {1, 300})
    for (const uint64_t seed : {3, 4}) {
      fill_uniform(weight, {.seed = seed}, -1, 1);
      const std::vector<real> exact = product_of(dz, weight, Transpose::no);
      const Tensor left = x.slice_rows(0, rows), expected({rows, 30});
      packed_gemm(left, Transpose::no, weight, Transpose::yes, Packing::once, {}, expected,
                  multiplications_of_int8().front());
      const WithPrecision in_int8(Precision::int8);
      for (int again = 0; again < 2; ++again)
        EXPECT_EQ(product_of(left, weight, Transpose::yes), expected.to_vector());
      EXPECT_EQ(product_of(dz, weight, Transpose::no), exact);
    }
  const Tensor long_x = Tensor::filled({1, most_int8_terms + 1}, 1), long_weight = clone(long_x);
  const WithPrecision in_int8(Precision::int8);
  EXPECT_EQ(product_of(long_x, long_weight, Transpose::yes).front(), most_int8_terms + 1);  // not in int8
}

}  // namespace
}  // namespace rondo
