// Operators of sequence models: their values against plain loops that share no code with them, and what they
// refuse. Their gradients: functions_in_double_test.cpp.
#include <cmath>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "autograd/sequence.h"
#include "tests/autograd/samples.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

/// Element (n, i, j) of a tensor of three dimensions.
double at(const Tensor& x, int64_t n, int64_t i, int64_t j) {
  return x.data()[(n * x.shape()[1] + i) * x.row_stride() + j];
}

TEST(GatherRows, TakesRowsOfASliceInAnyOrder) {
  const Variable x(samples({{4, 2, 3}})[0]);
  const Variable y = gather_rows(x.slice(1, 4).slice_columns(1, 3), tokens({5, 0, 5}));
  ASSERT_EQ(y.shape(), (Shape{3, 2}));
  for (int64_t j = 0; j < 2; ++j) {
    EXPECT_EQ(y.value().to_vector()[j], at(x.value(), 3, 1, j + 1));
    EXPECT_EQ(y.value().to_vector()[2 + j], at(x.value(), 1, 0, j + 1));
    EXPECT_EQ(y.value().to_vector()[4 + j], at(x.value(), 3, 1, j + 1));
  }
  const Tokens beyond = tokens({0, 8});
  EXPECT_EQ(any_error_of([&] { gather_rows(x, beyond); }), "[gather_rows] row 8 at 1 is not in [0, 8)");
}

TEST(MapRows, MovesEachRowOnceAndPutsZerosElsewhere) {
  const Variable x(Tensor::from({1, 2, 3, 4, NAN, NAN, 5, 6}, {2, 2, 2}));
  const RowMap map({3, -1, 0, 1}, 4);
  EXPECT_EQ(map_rows(x, map).value().to_vector(), (std::vector<real>{5, 6, 0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(map_rows(map_rows(x, map), map.inverse()).value().to_vector(),
            (std::vector<real>{1, 2, 3, 4, 0, 0, 5, 6}));
  EXPECT_EQ(map_rows(x, RowMap({}, 4)).shape(), (Shape{0, 2}));
  EXPECT_EQ(any_error_of([&] { map_rows(x.slice(0, 1), map); }),
            "[map_rows] a map of 4 rows does not fit [1, 2, 2]");
  EXPECT_EQ(any_error_of([] { RowMap({0, 2}, 2); }), "[row map] row 2 at 1 is not in [-1, 2)");
  EXPECT_EQ(any_error_of([] { RowMap({-2}, 2); }), "[row map] row -2 at 0 is not in [-1, 2)");
  EXPECT_EQ(any_error_of([] { RowMap({1, 0, 1}, 2); }), "[row map] row 1 goes to 0 and to 2");
}

TEST(TransposeFirstTwo, ExchangesThem) {
  const Variable x(samples({{2, 4, 3}})[0]);
  const Variable y = transpose_first_two(x.slice_columns(1, 3));
  ASSERT_EQ(y.shape(), (Shape{4, 2, 2}));
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 4; ++b)
      for (int64_t j = 0; j < 2; ++j) EXPECT_EQ(at(y.value(), b, a, j), at(x.value(), a, b, j + 1));
  const Variable matrix(samples({{2, 5}})[0]);
  const Variable transposed = transpose_first_two(matrix);
  ASSERT_EQ(transposed.shape(), (Shape{5, 2}));
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 5; ++b)
      EXPECT_EQ(transposed.value().to_vector()[b * 2 + a], matrix.value().to_vector()[a * 5 + b]);
  EXPECT_EQ(any_error_of([] { transpose_first_two(Variable(Tensor::zeros({3}))); }),
            "[transpose_first_two] x is [A, B, W] or [A, B], got [3]");
  EXPECT_EQ(transpose_first_two(Variable(Tensor::zeros({0, 2, 3}))).shape(), (Shape{2, 0, 3}));
}

TEST(Repeat, AndTheSumOverTheFirstDimension) {
  const Variable x(samples({{2, 4}})[0]);
  const Variable y = repeat(x.slice_columns(1, 4), 3);
  ASSERT_EQ(y.shape(), (Shape{3, 2, 3}));
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(at(y.value(), n, i, j), x.value().to_vector()[i * 4 + j + 1]);
  const Variable z(samples({{3, 2, 4}})[0]);
  const Variable sums = sum_over_first(z.slice_columns(0, 3));
  ASSERT_EQ(sums.shape(), (Shape{2, 3}));
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      EXPECT_NEAR(sums.value().to_vector()[i * 3 + j],
                  at(z.value(), 0, i, j) + at(z.value(), 1, i, j) + at(z.value(), 2, i, j), 1e-12);
  EXPECT_EQ(any_error_of([&] { repeat(x, -1); }), "[repeat] a count of 0 or more was expected: -1");
  EXPECT_EQ(any_error_of([] { sum_over_first(Variable(Tensor::zeros({3}))); }),
            "[sum_over_first] needs two dimensions or more, got [3]");
}

TEST(MaxOverFirst, IsTheLargestElementBeforeTheEnd) {
  const Tensor x = samples({{5, 3, 7}})[0];
  const Lengths lengths = {5, 1, 3};
  for (int64_t b = 0; b < 3; ++b)  // what lies behind the end
    for (int64_t t = lengths[static_cast<size_t>(b)]; t < 5; ++t) fill(x[t].slice_rows(b, b + 1), real(NAN));
  const std::vector<real> y = max_over_first(Variable(x), lengths).value().to_vector();
  for (int64_t b = 0; b < 3; ++b)
    for (int64_t j = 0; j < 7; ++j) {
      double largest = -INFINITY;
      for (int64_t t = 0; t < lengths[static_cast<size_t>(b)]; ++t)
        largest = std::max(largest, at(x, t, b, j));
      EXPECT_EQ(y[static_cast<size_t>(b * 7 + j)], largest);
    }
  const auto refusal = [&](const Lengths& of) {
    return any_error_of([&] { max_over_first(Variable(x), of); });
  };
  EXPECT_EQ(refusal({5, 0, 3}), "[max_over_first] a length of 0 has no maximum");
  EXPECT_EQ(refusal({5, 1}), "[max_over_first] 3 rows need as many lengths, got 2");
}

TEST(MaxOverFirst, OfEqualElementsTheFirstHasTheGradient) {
  const Tensor gradient = Tensor::zeros({4, 1, 2});
  const Variable x = Variable::leaf(Tensor::from({1, 2, 3, 2, 3, 2, 3, 9}, {4, 1, 2}), gradient);
  sum(max_over_first(x, {3})).backward();
  EXPECT_EQ(gradient.to_vector(), (std::vector<real>{0, 1, 1, 0, 0, 0, 0, 0}));
}

/// Softmax of x [B, T, S] over the first elements, as it is defined.
std::vector<double> plain_softmax(const Tensor& x, const Lengths& lengths) {
  std::vector<double> y(static_cast<size_t>(x.size()));
  const int64_t B = x.shape()[0], T = x.shape()[1], S = x.shape()[2];
  for (int64_t b = 0; b < B; ++b)
    for (int64_t t = 0; t < T; ++t) {
      double total = 0;
      for (int64_t s = 0; s < lengths[static_cast<size_t>(b)]; ++s) total += std::exp(at(x, b, t, s));
      for (int64_t s = 0; s < lengths[static_cast<size_t>(b)]; ++s)
        y[static_cast<size_t>((b * T + t) * S + s)] = std::exp(at(x, b, t, s)) / total;
    }
  return y;
}

TEST(MaskedSoftmax, IsASoftmaxOfTheFirstAndZeroBehind) {
  const Lengths lengths = {19, 0, 21, 1};
  const Variable x(samples({{4, 2, 21}})[0]);
  const std::vector<double> expected = plain_softmax(x.value(), lengths);
  for (int64_t b = 0; b < 4; ++b)  // what lies in the padding does not matter
    for (int64_t t = 0; t < 2; ++t)
      for (int64_t s = lengths[static_cast<size_t>(b)]; s < 21; ++s)
        x.value().mutable_data()[(b * 2 + t) * 21 + s] = s % 2 ? real(NAN) : real(INFINITY);
  const Tensor gradient = Tensor::zeros(x.shape());
  const Variable leaf = Variable::leaf(x.value(), gradient), y = softmax(leaf, lengths);
  const std::vector<real> values = y.value().to_vector();
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(expected[i] != 0 || values[i] == 0) << i;
    EXPECT_NEAR(values[i], expected[i], 1e-12) << i;
  }
  sum(square(y)).backward();
  for (int64_t b = 0; b < 4; ++b)
    for (int64_t t = 0; t < 2; ++t)
      for (int64_t s = 0; s < 21; ++s) {
        const double d = at(gradient, b, t, s);
        EXPECT_TRUE(std::isfinite(d));
        EXPECT_TRUE(s < lengths[static_cast<size_t>(b)] || d == 0);
      }
  EXPECT_EQ(softmax(leaf, {}).value().to_vector().size(), values.size());
  const auto refusal = [&](const Lengths& of) { return any_error_of([&] { softmax(leaf, of); }); };
  EXPECT_EQ(refusal({1, 2}), "[softmax] 4 rows need as many lengths, got 2");
  EXPECT_EQ(refusal({1, 2, 22, 3}), "[softmax] a length from 0 to 21 was expected: 22");
}

TEST(BatchedMatmul, MultipliesEachPairOfMatrices) {
  for (const auto& [N, M, K, P] :
       {std::array<int64_t, 4>{3, 2, 4, 5}, {2, 1, 33, 20}, {2, 3, 1, 1}, {2, 80, 70, 60}}) {
    SCOPED_TRACE(fmt::format("{} of {}x{}x{}", N, M, P, K));
    const auto inputs = samples({{N, M, K}, {N, K, P}, {N, P, K}});
    const Variable a(inputs[0]), b(inputs[1]), b_transposed(inputs[2]);
    const Variable plain = batched_matmul(a, b), transposed = batched_matmul(a, b_transposed, Transpose::yes);
    ASSERT_EQ(plain.shape(), (Shape{N, M, P}));
    ASSERT_EQ(transposed.shape(), (Shape{N, M, P}));
    for (int64_t n = 0; n < N; ++n)
      for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < P; ++j) {
          double first = 0, second = 0;
          for (int64_t k = 0; k < K; ++k) {
            first += at(inputs[0], n, i, k) * at(inputs[1], n, k, j);
            second += at(inputs[0], n, i, k) * at(inputs[2], n, j, k);
          }
          ASSERT_NEAR(at(plain.value(), n, i, j), first, 1e-10);
          ASSERT_NEAR(at(transposed.value(), n, i, j), second, 1e-10);
        }
  }
  const Variable a(Tensor::zeros({2, 3, 4})), b(Tensor::zeros({2, 5, 4}));
  EXPECT_EQ(any_error_of([&] { batched_matmul(a, b); }),
            "[batched_matmul] a [N, M, K] and b [N, K, P] need one N and one K: got [2, 3, 4] and [2, 5, 4]");
}

TEST(LayerNorm, IsThePaperEquation) {
  const auto inputs = samples({{3, 2, 19}, {19}, {19}});
  const Variable y = layer_norm(Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2]));
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t i = 0; i < 2; ++i) {
      double mean = 0, variance = 0;
      for (int64_t j = 0; j < 19; ++j) mean += at(inputs[0], n, i, j) / 19;
      for (int64_t j = 0; j < 19; ++j) variance += std::pow(at(inputs[0], n, i, j) - mean, 2) / 19;
      for (int64_t j = 0; j < 19; ++j)
        EXPECT_NEAR(at(y.value(), n, i, j),
                    (at(inputs[0], n, i, j) - mean) / std::sqrt(variance + 1e-5) * inputs[1].to_vector()[j] +
                        inputs[2].to_vector()[j],
                    1e-10);
    }
  EXPECT_EQ(
      any_error_of([&] { layer_norm(Variable(inputs[0]), Variable(inputs[1]), Variable(Tensor({2}))); }),
      "[layer_norm] x [3, 2, 19] needs weight and bias [19], got [19] and [2]");
}

TEST(Lengths, AreThoseOfTheirLists) {
  const auto staged = rectangle({2, 3}, 3).staged;
  const std::vector<Tokens> lists = {staged->last, staged->counts, staged->within, staged->reversed};
  EXPECT_THROW(Lengths({2, 3}, lists, 0), Error);
  EXPECT_THROW(Lengths({2, 3}, lists, 1), Error) << "the last is missing";
}

}  // namespace
}  // namespace rondo
