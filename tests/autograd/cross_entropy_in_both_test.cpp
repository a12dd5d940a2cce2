// The losses that are computed in blocks, of an output layer and of a mixture of softmaxes: against plain
// loops over several blocks, what is ignored, when gradients arrive, and what they keep. Gradient checks:
// tests/autograd/functions_in_double_test.cpp; whole models:
// tests/nn/models/language_model_values_in_double_test.cpp.
#include "autograd/cross_entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tensor/allocator.h"
#include "tensor/random.h"
#include "tests/tensor/errors.h"
#include "tests/tensor/near.h"

namespace rondo::cross_entropy_test {
namespace {

using Numbers = std::vector<real>;
constexpr real nan = std::numeric_limits<real>::quiet_NaN();

/// x, W, b and, of a mixture, the log prior of each row, with their gradients; targets.
struct Problem {
  /// Without experts: the loss of one softmax.
  Problem(int64_t N, int64_t V, int64_t H, int64_t experts = 0)
      : mixes(experts > 0),
        K(std::max<int64_t>(experts, 1)),
        x({N, K * H}),
        weight({V, H}),
        bias({V}),
        log_prior({mixes ? N : 0, K}),
        targets(static_cast<size_t>(N)) {
    uint64_t seed = 0;
    for (const Tensor& value : {x, weight, bias, log_prior}) {
      fill_uniform(value, {.seed = ++seed}, -1, 1);
      gradients.push_back(Tensor::zeros(value.shape()));
    }
    if (mixes) copy(log_softmax(log_prior).value(), log_prior);
    for (int64_t r = 0; r < N; ++r) targets[r] = static_cast<int32_t>(r * 7919 % V);
  }
  CrossEntropy loss() const {
    const Variable rows = Variable::leaf(x, gradients[0]), W = Variable::leaf(weight, gradients[1]),
                   b = Variable::leaf(bias, gradients[2]);
    return mixes ? mixture_cross_entropy(rows, Variable::leaf(log_prior, gradients[3]), W, b, tokens(targets))
                 : linear_cross_entropy(rows, W, b, tokens(targets), smoothing);
  }
  std::vector<Numbers> gradient_values() const {
    std::vector<Numbers> values;
    for (const Tensor& gradient : gradients) values.push_back(gradient.to_vector());
    return values;
  }
  void start_gradients_at(real value) const {
    for (const Tensor& gradient : gradients) fill(gradient, value);
  }

  bool mixes;
  int64_t K;
  Tensor x, weight, bias, log_prior;
  std::vector<Tensor> gradients;
  std::vector<int32_t> targets;
  double smoothing = 0;  // not of a mixture
  double tolerance = sizeof(real) == 4 ? 2e-5 : mixes ? 1e-11 : 2e-12;
};

/// The definitions as loops in double: the cross entropy to a distribution, or -log p of
/// p = sum_k pi_k softmax(W x_k + b)[y]. Ignored rows are passed over.
struct PlainLoops {
  explicit PlainLoops(const Problem& it) : each(it.targets.size(), 0) {
    const int64_t V = it.weight.rows(), H = it.weight.columns(), K = it.K;
    for (const Tensor& gradient : it.gradients) gradients.emplace_back(gradient.size(), 0.0);
    for (size_t r = 0; r < it.targets.size(); ++r) {
      const int64_t y = it.targets[r];
      if (y < 0) continue;
      const auto wanted = [&](int64_t v) {
        return (v == y ? 1 - it.smoothing : 0) + it.smoothing / static_cast<double>(V);
      };
      std::vector<std::vector<double>> softmax(K, std::vector<double>(V));
      std::vector<double> share(K, 1);
      double p = 0, smoothed = 0;
      for (int64_t k = 0; k < K; ++k) {
        const real* x = it.x.data() + (r * K + k) * H;
        double sum = 0, wanted_logit = 0;
        for (int64_t v = 0; v < V; ++v) {
          double logit = it.bias.data()[v];
          for (int64_t h = 0; h < H; ++h) logit += static_cast<double>(x[h]) * it.weight.data()[v * H + h];
          wanted_logit += wanted(v) * logit;
          sum += softmax[k][v] = std::exp(logit);
        }
        smoothed = std::log(sum) - wanted_logit;
        for (double& s : softmax[k]) s /= sum;
        if (it.mixes) share[k] = std::exp(static_cast<double>(it.log_prior.data()[r * K + k]));
        p += share[k] * softmax[k][y];
      }
      each[r] = -std::log(p);
      total += it.mixes ? each[r] : smoothed;
      for (int64_t k = 0; k < K; ++k) {
        const real* x = it.x.data() + (r * K + k) * H;
        const double posterior = share[k] * softmax[k][y] / p;
        if (it.mixes) gradients[3][r * K + k] = -posterior;
        for (int64_t v = 0; v < V; ++v) {
          // d softmax_y / d logit_v = softmax_y ([v = y] - softmax_v)
          const double dlogit = posterior * (softmax[k][v] - wanted(v));
          gradients[2][v] += dlogit;
          for (int64_t h = 0; h < H; ++h) {
            gradients[0][(r * K + k) * H + h] += dlogit * it.weight.data()[v * H + h];
            gradients[1][v * H + h] += dlogit * x[h];
          }
        }
      }
    }
  }
  double total = 0;
  std::vector<double> each;
  std::vector<std::vector<double>> gradients;
};

void expect_plain(const Problem& problem) {
  const CrossEntropy loss = problem.loss();
  const PlainLoops expected(problem);
  EXPECT_NEAR(loss.total.value().item(), expected.total,
              problem.tolerance *
                  (problem.mixes ? std::max(1.0, expected.total) : std::max(5.0, problem.x.rows() / 6.0)));
  expect_near(loss.each.to_vector(), expected.each, problem.tolerance);
  loss.total.backward();
  for (size_t i = 0; i < 4; ++i)
    expect_near(problem.gradients[i].to_vector(), expected.gradients[i], problem.tolerance);
  const NoGradient guard;
  EXPECT_EQ(problem.loss().each.to_vector(), loss.each.to_vector());
  EXPECT_EQ(problem.loss().total.value().item(), loss.total.value().item());
}

TEST(BlockedCrossEntropy, AgreesWithPlainLoopsOverSeveralBlocks) {
  for (const auto& [N, V, H, K] : {std::tuple{1, 2, 1, 0},
                                   {5, 37, 3, 0},
                                   {130, 64, 5, 0},
                                   {300, 2003, 3, 0},
                                   {257, 3000, 4, 0},
                                   {6000, 50, 3, 0},
                                   {1, 2, 1, 1},
                                   {70, 300, 4, 1},
                                   {5, 37, 3, 4},
                                   {130, 64, 5, 3},
                                   {40, 2003, 3, 15},
                                   {3, 2000, 2, 300},
                                   {900, 50, 3, 7}})
    for (const double smoothing : {0.0, 0.1}) {
      SCOPED_TRACE(fmt::format("{} rows, {} symbols, {} wide, {} experts", N, V, H, K));
      if (K > 0 && smoothing > 0) continue;
      Problem problem(N, V, H, K);
      problem.smoothing = smoothing;
      expect_plain(problem);
    }
}

TEST(BlockedCrossEntropy, BlocksOfAMixtureAreWholeGroupsOfExpertsAndOfOneHeight) {
  EXPECT_EQ(cross_entropy_block_rows(12 * 70 * 15, 10000, 15), 255);  // 17 of 840
  EXPECT_EQ(cross_entropy_block_rows(600, 10007, 15), 210);           // 40 in three blocks, of 14, 14 and 12
  EXPECT_EQ(cross_entropy_block_rows(900, 5000, 300), 300);           // one of three
}

TEST(BlockedCrossEntropy, IgnoredRowsChangeNothingWhateverTheyHold) {
  for (const int64_t experts : {0, 5}) {
    const int64_t N = experts == 0 ? 300 : 60;
    Problem problem(N, 2003, 3, experts);
    if (!problem.mixes) problem.smoothing = 0.2;
    for (int64_t r = 0; r < N; r += 4) {
      fill(problem.x.slice_rows(r, r + 1), nan);
      if (problem.mixes) fill(problem.log_prior.slice_rows(r, r + 1), nan);
      problem.targets[r] = -1;
    }
    expect_plain(problem);
  }
}

TEST(BlockedCrossEntropy, OfNoScoredRowIsZeroWithoutGradient) {
  for (const int64_t experts : {0, 5}) {
    Problem problem(3, 5, 2, experts);
    problem.targets = {-1, -1, -1};
    problem.start_gradients_at(2);
    const CrossEntropy loss = problem.loss();
    EXPECT_EQ(loss.total.value().item(), 0);
    EXPECT_EQ(loss.each.to_vector(), Numbers(3, 0));
    loss.total.backward();
    for (const Numbers& gradient : problem.gradient_values())
      EXPECT_EQ(gradient, Numbers(gradient.size(), 2));
  }
}

TEST(BlockedCrossEntropy, GradientsArriveScaledWithBackwardAndNotBefore) {
  for (const int64_t experts : {0, 2}) {
    const Problem problem(7, 37, 3, experts);
    const PlainLoops expected(problem);
    const auto expect = [&](double start, double factor) {
      for (size_t i = 0; i < 4; ++i) {
        std::vector<double> wanted = expected.gradients[i];
        for (double& it : wanted) it = start + factor * it;
        expect_near(problem.gradients[i].to_vector(), wanted, problem.tolerance);
      }
    };
    problem.start_gradients_at(-2);
    const std::vector<Numbers> before = problem.gradient_values();
    { const CrossEntropy skipped = problem.loss(); }
    const CrossEntropy loss = problem.loss();
    EXPECT_EQ(problem.gradient_values(), before);
    (loss.total * real(3)).backward();
    expect(-2, 3);

    const CrossEntropy again = problem.loss();  // before the gradients are zeroed
    problem.start_gradients_at(0);
    again.total.backward();
    expect(0, 1);
  }
}

TEST(LinearCrossEntropy, DoesNotOverflow) {
  const Tensor x = Tensor::from({1000, real(1e30)}, {2, 1}), dx = Tensor::zeros({2, 1});
  const Variable weight(Tensor::from({1, -1}, {2, 1}));
  const CrossEntropy loss = linear_cross_entropy(Variable::leaf(x, dx), weight, {}, tokens({1, 0}));
  EXPECT_EQ(loss.each.to_vector(), (Numbers{2000, 0}));
  loss.total.backward();
  EXPECT_EQ(dx.to_vector(), (Numbers{2, 0}));
}

TEST(LinearCrossEntropy, NaNInAScoredRowIsNotHidden) {
  const Problem problem(4, 37, 3);
  problem.x.mutable_data()[3] = nan;
  const CrossEntropy loss = problem.loss();
  EXPECT_TRUE(std::isnan(loss.total.value().item()));
  EXPECT_TRUE(std::isnan(loss.each.data()[1]));
  EXPECT_FALSE(std::isnan(loss.each.data()[2]));
}

TEST(LinearCrossEntropy, SumsManyRowsInDouble) {
  const int64_t N = 40000;  // adding log 2 to a float 40000 times would be wrong in the fifth digit
  const CrossEntropy loss =
      linear_cross_entropy(Tensor::zeros({N, 1}), Tensor::zeros({2, 1}), {}, tokens(std::vector<int32_t>(N)));
  EXPECT_NEAR(loss.total.value().item() / static_cast<double>(N), std::log(2.0), 1e-7);
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

// ---- Memory.

size_t bytes_in_use() { return memory_statistics(Device::cpu).bytes_in_use; }

TEST(LinearCrossEntropy, KeepsNothingWithoutRecording) {
  const Problem problem(64, 1000, 4);
  const auto kept = [&] {
    const size_t before = bytes_in_use();
    const CrossEntropy loss = problem.loss();
    return bytes_in_use() - before;
  };
  {
    const NoGradient guard;
    kept();  // packs the weight, which is the weight's to keep
    EXPECT_LE(kept(), 64 * sizeof(real) + 2 * 64);
  }
  EXPECT_GE(kept(), (64 * 4 + 1000 * 4 + 1000) * sizeof(real));
}

TEST(BlockedCrossEntropy, TakesTheMemoryOfOneBlockHoweverManyRows) {
  const int64_t V = 4000, H = 1;
  for (const int64_t experts : {0, 10}) {
    const int64_t K = std::max<int64_t>(experts, 1);
    const auto peak = [&](int64_t N) {
      const Problem problem(N, V, H, experts);
      problem.loss().total.backward();
      const size_t before = bytes_in_use();
      reset_peak_bytes(Device::cpu);
      problem.loss().total.backward();
      return memory_statistics(Device::cpu).peak_bytes - before;
    };
    const size_t few = peak(512), many = peak(1200);
    EXPECT_GT(few, 0U);
    EXPECT_LT(few, 300 * V * sizeof(real));              // of 512 rows
    EXPECT_LT(many, few + 1200 * 3 * K * sizeof(real));  // gradients and losses of each row; not V logits
  }
}

// ---- Errors.

TEST(LinearCrossEntropy, ErrorsSayWhatWasExpected) {
  Problem smoothed(2, 3, 1);
  smoothed.smoothing = 1;
  EXPECT_EQ(any_error_of([&] { smoothed.loss(); }),
            "[linear_cross_entropy] a smoothing from 0 to 1 was expected: 1");
  const Variable x(Tensor::zeros({2, 3})), weight(Tensor::zeros({5, 3})), bias(Tensor::zeros({5}));
  const auto error = [&](const Variable& a, const Variable& w, const Variable& b, std::vector<int32_t> ids) {
    return any_error_of([&] { linear_cross_entropy(a, w, b, tokens(ids)); });
  };
  EXPECT_EQ(error(x, Tensor::zeros({5, 4}), bias, {0, 0}),
            "[linear_cross_entropy] x [.., H] and W [V, H] need one H: got [2, 3] and [5, 4]");
  EXPECT_EQ(error(x, weight, Tensor::zeros({4}), {0, 0}),
            "[linear_cross_entropy] the bias for W [5, 3] is [5], got [4]");
  EXPECT_EQ(error(x, weight, bias, {0}), "[linear_cross_entropy] x [2, 3] needs 2 targets, got 1");
  EXPECT_EQ(error(x, weight, bias, {0, 5}), "[linear_cross_entropy] target 5 at 1 is not in [-1, 5)");
  EXPECT_EQ(error(x, weight, bias, {-2, 0}), "[linear_cross_entropy] target -2 at 0 is not in [-1, 5)");
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
}  // namespace rondo::cross_entropy_test
