// The loss of a mixture of softmaxes: against plain loops over several blocks, what is ignored, and what it
// keeps. A whole model's: tests/nn/models/language_model_values_in_double_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/cross_entropy.h"
#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tensor/random.h"
#include "tests/tensor/errors.h"

namespace rondo::mixture_cross_entropy_test {
namespace {

using Numbers = std::vector<real>;
constexpr double tolerance = sizeof(real) == 4 ? 2e-5 : 1e-11;
constexpr real nan = std::numeric_limits<real>::quiet_NaN();

/// x, log prior, W and b with their gradients; targets.
struct Problem {
  Problem(int64_t N, int64_t V, int64_t H, int64_t experts)
      : K(experts), x({N, K * H}), log_prior({N, K}), weight({V, H}), bias({V}), targets(N) {
    uint64_t seed = 0;
    for (const Tensor& value : {x, log_prior, weight, bias}) {
      fill_uniform(value, {.seed = ++seed}, -1, 1);
      gradients.push_back(Tensor::zeros(value.shape()));
    }
    copy(log_softmax(log_prior).value(), log_prior);
    for (int64_t r = 0; r < N; ++r) targets[r] = static_cast<int32_t>(r * 7919 % V);
  }
  CrossEntropy loss() const {
    return mixture_cross_entropy(Variable::leaf(x, gradients[0]), Variable::leaf(log_prior, gradients[1]),
                                 Variable::leaf(weight, gradients[2]), Variable::leaf(bias, gradients[3]),
                                 tokens(targets));
  }

  int64_t K;
  Tensor x, log_prior, weight, bias;
  std::vector<Tensor> gradients;
  std::vector<int32_t> targets;
};

/// From the definition, in double: p = sum_k pi_k softmax(W x_k + b)[y], and the derivatives of -log p by
/// those of p. Ignored rows are passed over.
struct PlainLoops {
  explicit PlainLoops(const Problem& it) : each(it.targets.size(), 0) {
    const int64_t V = it.weight.rows(), H = it.weight.columns(), K = it.K;
    for (const Tensor& gradient : it.gradients) gradients.emplace_back(gradient.size(), 0.0);
    for (size_t r = 0; r < it.targets.size(); ++r) {
      const int64_t y = it.targets[r];
      if (y < 0) continue;
      std::vector<std::vector<double>> softmax(K, std::vector<double>(V));
      std::vector<double> share(K);
      double p = 0;
      for (int64_t k = 0; k < K; ++k) {
        const real* x = it.x.data() + (r * K + k) * H;
        double sum = 0;
        for (int64_t v = 0; v < V; ++v) {
          double logit = it.bias.data()[v];
          for (int64_t h = 0; h < H; ++h) logit += static_cast<double>(x[h]) * it.weight.data()[v * H + h];
          sum += softmax[k][v] = std::exp(logit);
        }
        for (double& s : softmax[k]) s /= sum;
        share[k] = std::exp(static_cast<double>(it.log_prior.data()[r * K + k]));
        p += share[k] * softmax[k][y];
      }
      total += each[r] = -std::log(p);
      for (int64_t k = 0; k < K; ++k) {
        const real* x = it.x.data() + (r * K + k) * H;
        gradients[1][r * K + k] = -share[k] * softmax[k][y] / p;
        for (int64_t v = 0; v < V; ++v) {
          // d softmax_y / d logit_v = softmax_y ([v = y] - softmax_v)
          const double dlogit = -share[k] / p * softmax[k][y] * ((v == y ? 1 : 0) - softmax[k][v]);
          gradients[3][v] += dlogit;
          for (int64_t h = 0; h < H; ++h) {
            gradients[0][(r * K + k) * H + h] += dlogit * it.weight.data()[v * H + h];
            gradients[2][v * H + h] += dlogit * x[h];
          }
        }
      }
    }
  }
  double total = 0;
  std::vector<double> each;
  std::vector<std::vector<double>> gradients;
};

void expect_near(const Numbers& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "element " << i;
}

void expect_plain(const Problem& problem) {
  const CrossEntropy loss = problem.loss();
  const PlainLoops expected(problem);
  EXPECT_NEAR(loss.total.value().item(), expected.total, tolerance * std::max(1.0, expected.total));
  expect_near(loss.each.to_vector(), expected.each);
  loss.total.backward();
  for (size_t i = 0; i < 4; ++i) expect_near(problem.gradients[i].to_vector(), expected.gradients[i]);
  const NoGradient guard;
  EXPECT_EQ(problem.loss().each.to_vector(), loss.each.to_vector());
}

TEST(MixtureCrossEntropy, AgreesWithPlainLoopsOverSeveralBlocks) {
  for (const auto& [N, V, H, K] : {std::tuple{1, 2, 1, 1},
                                   {70, 300, 4, 1},
                                   {5, 37, 3, 4},
                                   {130, 64, 5, 3},
                                   {40, 10007, 3, 15},
                                   {3, 5000, 2, 300},
                                   {900, 50, 3, 7}}) {
    SCOPED_TRACE(fmt::format("{} rows, {} symbols, {} wide, {} experts", N, V, H, K));
    expect_plain(Problem(N, V, H, K));
  }
}

TEST(MixtureCrossEntropy, BlocksAreWholeGroupsOfExpertsAndOfOneHeight) {
  EXPECT_EQ(cross_entropy_block_rows(12 * 70 * 15, 10000, 15), 255);  // 17 of 840
  EXPECT_EQ(cross_entropy_block_rows(600, 10007, 15), 210);           // 40 in three blocks, of 14, 14 and 12
  EXPECT_EQ(cross_entropy_block_rows(900, 5000, 300), 300);           // one of three
}

TEST(MixtureCrossEntropy, IgnoredRowsChangeNothingWhateverTheyHold) {
  Problem problem(60, 10007, 3, 5);
  for (int64_t r = 0; r < 60; r += 4) {
    problem.targets[r] = -1;
    fill(problem.x.slice_rows(r, r + 1), nan);
    fill(problem.log_prior.slice_rows(r, r + 1), nan);
  }
  expect_plain(problem);
  problem.targets.assign(60, -1);
  for (const Tensor& gradient : problem.gradients) fill(gradient, 2);
  const CrossEntropy nothing = problem.loss();
  EXPECT_EQ(nothing.total.value().item(), 0);
  nothing.total.backward();
  for (const Tensor& gradient : problem.gradients)
    EXPECT_EQ(gradient.to_vector(), Numbers(static_cast<size_t>(gradient.size()), 2));
}

TEST(MixtureCrossEntropy, GradientsAreScaledAndAdded) {
  const Problem problem(7, 37, 3, 2);
  const PlainLoops expected(problem);
  for (const Tensor& gradient : problem.gradients) fill(gradient, -2);
  (problem.loss().total * real(3)).backward();
  for (size_t i = 0; i < 4; ++i) {
    std::vector<double> wanted;
    for (const double it : expected.gradients[i]) wanted.push_back(-2 + 3 * it);
    expect_near(problem.gradients[i].to_vector(), wanted);
  }
}

TEST(MixtureCrossEntropy, NeitherOverflowsNorHidesNaN) {
  // Expert 0 all but rules the target out, expert 1 is sure of it.
  const Tensor x = Tensor::from({1000, -1000}, {1, 2}), weight = Tensor::from({1, -1}, {2, 1});
  const Variable log_prior(Tensor::filled({1, 2}, real(std::log(0.5))));
  const CrossEntropy loss = mixture_cross_entropy(x, log_prior, weight, {}, tokens({1}));
  EXPECT_NEAR(loss.total.value().item(), std::log(2.0), 1e-6);
  const CrossEntropy both =
      mixture_cross_entropy(Tensor::from({1000, 1000}, {1, 2}), log_prior, weight, {}, tokens({1}));
  EXPECT_NEAR(both.total.value().item(), 2000, 1e-3);
  EXPECT_TRUE(
      std::isnan(mixture_cross_entropy(Tensor::from({1, nan}, {1, 2}), log_prior, weight, {}, tokens({1}))
                     .total.value()
                     .item()));
}

TEST(MixtureCrossEntropy, ErrorsSayWhatWasExpected) {
  const Variable x(Tensor::zeros({2, 6})), log_prior(Tensor::zeros({2, 2})), weight(Tensor::zeros({5, 3}));
  const auto error = [&](const Variable& a, const Variable& prior, std::vector<int32_t> ids) {
    return any_error_of([&] { mixture_cross_entropy(a, prior, weight, {}, tokens(ids)); });
  };
  EXPECT_EQ(error(Tensor::zeros({2, 3}), log_prior, {0, 0}),
            "[mixture_cross_entropy] x [.., 2 H] and W [V, H] need one H: got [2, 3] and [5, 3]");
  EXPECT_EQ(error(x, Tensor::zeros({3, 2}), {0, 0}),
            "[mixture_cross_entropy] x [2, 6] needs a log prior [2, K], got [3, 2]");
  EXPECT_EQ(error(x, log_prior, {0}), "[mixture_cross_entropy] x [2, 6] needs 2 targets, got 1");
  EXPECT_EQ(error(x, log_prior, {0, 5}), "[mixture_cross_entropy] target 5 at 1 is not in [-1, 5)");
}

}  // namespace
}  // namespace rondo::mixture_cross_entropy_test
