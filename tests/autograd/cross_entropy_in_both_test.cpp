// The blocked output layer and loss: against plain loops over several blocks, what is ignored, when gradients
// arrive, and what it keeps. Gradient checks: tests/autograd/functions_in_double_test.cpp.
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

namespace rondo {
namespace {

using Numbers = std::vector<real>;
constexpr double tolerance = sizeof(real) == 4 ? 1e-5 : 1e-12;
constexpr real nan = std::numeric_limits<real>::quiet_NaN();

/// x, W, b and row weights with their gradients; targets.
struct Problem {
  Problem(int64_t N, int64_t V, int64_t H)
      : x({N, H}), weight({V, H}), bias({V}), row_weights({N}), targets(static_cast<size_t>(N)) {
    uint64_t seed = 0;
    for (const Tensor& value : {x, weight, bias, row_weights}) {
      fill_uniform(value, {.seed = ++seed}, -1, 1);
      gradients.push_back(Tensor::zeros(value.shape()));
    }
    for (int64_t r = 0; r < N; ++r) targets[r] = static_cast<int32_t>(r * 7919 % V);
  }
  CrossEntropy loss() const {
    return linear_cross_entropy(Variable::leaf(x, gradients[0]), Variable::leaf(weight, gradients[1]),
                                Variable::leaf(bias, gradients[2]), tokens(targets),
                                Variable::leaf(row_weights, gradients[3]), smoothing);
  }
  std::vector<Numbers> gradient_values() const {
    std::vector<Numbers> values;
    for (const Tensor& gradient : gradients) values.push_back(gradient.to_vector());
    return values;
  }
  void start_gradients_at(real value) const {
    for (const Tensor& gradient : gradients) fill(gradient, value);
  }

  Tensor x, weight, bias, row_weights;
  std::vector<Tensor> gradients;
  std::vector<int32_t> targets;
  double smoothing = 0;
};

/// The definition as loops in double: the cross entropy to a distribution. Ignored rows are passed over.
struct PlainLoops {
  explicit PlainLoops(const Problem& it) : each(it.targets.size(), 0) {
    const int64_t V = it.weight.rows(), H = it.weight.columns();
    for (const Tensor& gradient : it.gradients) gradients.emplace_back(gradient.size(), 0.0);
    for (size_t r = 0; r < it.targets.size(); ++r) {
      const double row_weight = it.row_weights.data()[r];
      if (it.targets[r] < 0 || row_weight == 0) continue;
      const real* x = it.x.data() + r * H;
      std::vector<double> exponentials(V);
      const auto wanted = [&](int64_t v) {
        return (v == it.targets[r] ? 1 - it.smoothing : 0) + it.smoothing / static_cast<double>(V);
      };
      double sum = 0, logit_of_target = 0, wanted_logit = 0;
      for (int64_t v = 0; v < V; ++v) {
        double logit = it.bias.data()[v];
        for (int64_t h = 0; h < H; ++h) logit += static_cast<double>(x[h]) * it.weight.data()[v * H + h];
        if (v == it.targets[r]) logit_of_target = logit;
        wanted_logit += wanted(v) * logit;
        sum += exponentials[v] = std::exp(logit);
      }
      each[r] = std::log(sum) - logit_of_target;
      gradients[3][r] = std::log(sum) - wanted_logit;
      total += row_weight * gradients[3][r];
      for (int64_t v = 0; v < V; ++v) {
        const double dlogit = row_weight * (exponentials[v] / sum - wanted(v));
        gradients[2][v] += dlogit;
        for (int64_t h = 0; h < H; ++h) {
          gradients[0][r * H + h] += dlogit * it.weight.data()[v * H + h];
          gradients[1][v * H + h] += dlogit * x[h];
        }
      }
    }
  }
  double total = 0;
  std::vector<double> each;
  std::vector<std::vector<double>> gradients;
};

/// actual = start + factor * expected
void expect_near(const Tensor& actual, const std::vector<double>& expected, double start = 0,
                 double factor = 1) {
  const Numbers values = actual.to_vector();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double wanted = start + factor * expected[i];
    ASSERT_NEAR(values[i], wanted, 2 * tolerance * std::max(1.0, std::abs(wanted)))
        << fmt::format("{} element ", actual.shape()) << i;
  }
}

TEST(LinearCrossEntropy, AgreesWithPlainLoopsOverSeveralBlocks) {
  for (const auto& [N, V, H] :
       {std::tuple{1, 2, 1}, {5, 37, 3}, {130, 64, 5}, {300, 10007, 3}, {257, 3000, 4}, {6000, 50, 3}}) {
    for (const double smoothing : {0.0, 0.1}) {
      Problem problem(N, V, H);
      problem.smoothing = smoothing;
      const CrossEntropy loss = problem.loss();
      const PlainLoops expected(problem);
      EXPECT_NEAR(loss.total.value().item(), expected.total, tolerance * std::max(10.0, N * 1.0));
      expect_near(loss.each, expected.each);
      loss.total.backward();
      for (size_t i = 0; i < 4; ++i) expect_near(problem.gradients[i], expected.gradients[i]);
      const NoGradient guard;
      EXPECT_EQ(problem.loss().each.to_vector(), loss.each.to_vector());
      EXPECT_EQ(problem.loss().total.value().item(), loss.total.value().item());
    }
  }
}

TEST(LinearCrossEntropy, IgnoredRowsChangeNothingWhateverTheyHold) {
  Problem problem(300, 10007, 3);
  problem.smoothing = 0.2;
  for (int64_t r = 0; r < 300; r += 4) {
    if (r % 8 == 0)
      problem.targets[r] = -1;
    else
      problem.row_weights.mutable_data()[r] = 0;
    fill(problem.x.slice_rows(r, r + 1), nan);
  }
  const CrossEntropy loss = problem.loss();
  const PlainLoops expected(problem);
  EXPECT_NEAR(loss.total.value().item(), expected.total, 100 * tolerance);
  expect_near(loss.each, expected.each);
  loss.total.backward();
  for (size_t i = 0; i < 4; ++i) expect_near(problem.gradients[i], expected.gradients[i]);
}

TEST(LinearCrossEntropy, OfNoScoredRowIsZeroWithoutGradient) {
  Problem problem(3, 5, 2);
  problem.targets = {-1, -1, -1};
  problem.start_gradients_at(2);
  const CrossEntropy loss = problem.loss();
  EXPECT_EQ(loss.total.value().item(), 0);
  EXPECT_EQ(loss.each.to_vector(), Numbers(3, 0));
  loss.total.backward();
  for (const Numbers& gradient : problem.gradient_values()) EXPECT_EQ(gradient, Numbers(gradient.size(), 2));
}

TEST(LinearCrossEntropy, GradientsArriveScaledWithBackwardAndNotBefore) {
  const Problem problem(7, 37, 3);
  const PlainLoops expected(problem);
  problem.start_gradients_at(-2);
  const std::vector<Numbers> before = problem.gradient_values();
  { const CrossEntropy skipped = problem.loss(); }
  const CrossEntropy loss = problem.loss();
  EXPECT_EQ(problem.gradient_values(), before);
  (loss.total * real(3)).backward();
  for (size_t i = 0; i < 4; ++i) expect_near(problem.gradients[i], expected.gradients[i], -2, 3);

  const CrossEntropy again = problem.loss();  // before the gradients are zeroed
  problem.start_gradients_at(0);
  again.total.backward();
  for (size_t i = 0; i < 4; ++i) expect_near(problem.gradients[i], expected.gradients[i]);
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

TEST(LinearCrossEntropy, TakesTheMemoryOfOneBlockHoweverManyRows) {
  const int64_t V = 4000, H = 1;
  const auto peak = [&](int64_t N) {
    const Problem problem(N, V, H);
    problem.loss().total.backward();
    const size_t before = bytes_in_use();
    reset_peak_bytes(Device::cpu);
    problem.loss().total.backward();
    return memory_statistics(Device::cpu).peak_bytes - before;
  };
  const size_t few = peak(512), many = peak(1200);
  EXPECT_LT(few, 300 * V * sizeof(real));          // of 512 rows
  EXPECT_LT(many, few + 1200 * 4 * sizeof(real));  // a gradient, loss and weight of each row; not V logits
}

// ---- Errors.

TEST(LinearCrossEntropy, ErrorsSayWhatWasExpected) {
  Problem smoothed(2, 3, 1);
  smoothed.smoothing = 1;
  EXPECT_EQ(any_error_of([&] { smoothed.loss(); }),
            "[linear_cross_entropy] a smoothing from 0 to 1 was expected: 1");
  const Variable x(Tensor::zeros({2, 3})), weight(Tensor::zeros({5, 3})), bias(Tensor::zeros({5}));
  const auto error = [&](const Variable& a, const Variable& w, const Variable& b, std::vector<int32_t> ids,
                         const Variable& row_weights = {}) {
    return any_error_of([&] { linear_cross_entropy(a, w, b, tokens(ids), row_weights); });
  };
  EXPECT_EQ(error(x, Tensor::zeros({5, 4}), bias, {0, 0}),
            "[linear_cross_entropy] x [.., H] and W [V, H] need one H: got [2, 3] and [5, 4]");
  EXPECT_EQ(error(x, weight, Tensor::zeros({4}), {0, 0}),
            "[linear_cross_entropy] the bias for W [5, 3] is [5], got [4]");
  EXPECT_EQ(error(x, weight, bias, {0}), "[linear_cross_entropy] x [2, 3] needs 2 targets, got 1");
  EXPECT_EQ(error(x, weight, bias, {0, 5}), "[linear_cross_entropy] target 5 at 1 is not in [-1, 5)");
  EXPECT_EQ(error(x, weight, bias, {-2, 0}), "[linear_cross_entropy] target -2 at 0 is not in [-1, 5)");
  EXPECT_EQ(error(x, weight, bias, {0, 0}, Tensor::zeros({3})),
            "[linear_cross_entropy] the row weights for x [2, 3] are [2], got [3]");
}

}  // namespace
}  // namespace rondo
