// The CTC loss: against PyTorch (tests/golden/make_ctc_golden.py), against the sum over all paths of tiny
// sequences, and over so many frames that rounding would show; what is skipped, and errors. On a GPU:
// functions_on_gpu_test.cpp.
#include "autograd/ctc_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "tensor/random.h"
#include "tests/autograd/ctc_paths.h"
#include "tests/autograd/samples.h"
#include "tests/golden/compare.h"
#include "tests/tensor/errors.h"

namespace rondo::ctc_loss_test {
namespace {

using Numbers = std::vector<real>;
constexpr double tolerance = sizeof(real) == 4 ? 1e-5 : 1e-10;
constexpr real nan = std::numeric_limits<real>::quiet_NaN();

/// The loss of each sequence, and the gradient of its sum weighted by `weights`, or of the plain sum.
struct Result {
  Result(const Tensor& scores, const CtcTargets& targets, const Numbers& weights = {}) {
    const Tensor dx = Tensor::zeros(scores.shape());
    const Variable loss = ctc_loss(Variable::leaf(scores, dx), targets);
    each = loss.value().to_vector();
    const auto B = std::ssize(each);
    sum(weights.empty() ? loss : loss * Variable(Tensor::from(weights, {B}))).backward();
    gradient = dx.to_vector();
  }
  Numbers each, gradient;
};

TEST(CtcLoss, AgreesWithPyTorch) {
  const Golden& golden = Golden::file("ctc");
  for (const std::string name : {"short", "long"}) {
    const auto numbers = [&](const std::string& it) { return golden.values(name + "." + it); };
    const std::vector<double> ids = numbers("labels"), counts = numbers("counts"), frames = numbers("frames"),
                              weights = numbers("loss_weight.nats");
    std::vector<Labelling> labels;
    const size_t most = ids.size() / counts.size();
    for (size_t b = 0; b < counts.size(); ++b)
      labels.emplace_back(ids.begin() + b * most, ids.begin() + b * most + static_cast<size_t>(counts[b]));
    const CtcTargets targets(labels, {frames.begin(), frames.end()});
    const Result result(tensor_of(golden, name + ".scores"), targets, {weights.begin(), weights.end()});
    expect_golden(result.each, golden, name + ".nats", tolerance);
    expect_golden(result.gradient, golden, name + ".gradient.scores", tolerance);
    EXPECT_EQ(targets.skipped(), name == "short" ? 1 : 0);
  }
}

TEST(CtcLoss, IsTheSumOverAllPaths) {
  const int64_t V = 3;
  for (int64_t T = 1; T <= 6; ++T) {
    const Tensor scores = samples({{T, 1, V}})[0];
    std::vector<std::vector<double>> y(T, std::vector<double>(V));
    for (int64_t t = 0; t < T; ++t) {
      double sum = 0;
      for (int64_t k = 0; k < V; ++k)
        sum += y[t][k] = std::exp(static_cast<double>(scores.data()[t * V + k]));
      for (double& it : y[t]) it /= sum;
    }
    double all = 0;
    for (const auto& [labels, probability] : probabilities_by_all_paths(y)) {
      ASSERT_TRUE(fits_into(labels, T));
      const Result result(scores, CtcTargets({labels}, {T}));
      EXPECT_NEAR(result.each[0], -std::log(probability), tolerance)
          << fmt::format("{}", fmt::join(labels, " "));
      all += std::exp(-static_cast<double>(result.each[0]));
    }
    EXPECT_NEAR(all, 1, tolerance);
  }
}

/// One sequence in double by (6) to (11) and (16), state by state over l'; probabilities as logarithms.
struct PlainLoops {
  PlainLoops(const Numbers& scores, int64_t V, const Labelling& labels) : gradient(scores.size()) {
    const int64_t T = std::ssize(scores) / V, S = 2 * std::ssize(labels) + 1;
    const auto symbol = [&](int64_t s) { return s % 2 ? labels[s / 2] : 0; };
    const auto skips = [&](int64_t s) { return s % 2 && s > 1 && symbol(s) != symbol(s - 2); };
    const auto add = [](double& to, double x) {
      if (std::isinf(x)) return;
      to = std::isinf(to) ? x : std::max(to, x) + std::log1p(std::exp(-std::abs(to - x)));
    };
    const double zero = -std::numeric_limits<double>::infinity();
    std::vector<double> y(scores.begin(), scores.end()), alpha(T * S, zero), beta(T * S, zero);
    for (int64_t t = 0; t < T; ++t) {
      double sum = zero;
      for (int64_t k = 0; k < V; ++k) add(sum, y[t * V + k]);
      for (int64_t k = 0; k < V; ++k) y[t * V + k] -= sum;
    }
    for (int64_t s = 0; s < S; ++s) {
      if (s < 2) alpha[s] = y[symbol(s)];
      if (s >= S - 2) beta[(T - 1) * S + s] = y[(T - 1) * V + symbol(s)];
    }
    for (int64_t t = 1; t < T; ++t)
      for (int64_t s = 0; s < S; ++s) {
        double& to = alpha[t * S + s];
        for (int64_t from = std::max<int64_t>(0, s - (skips(s) ? 2 : 1)); from <= s; ++from)
          add(to, alpha[(t - 1) * S + from]);
        to += y[t * V + symbol(s)];
      }
    for (int64_t t = T - 2; t >= 0; --t)
      for (int64_t s = 0; s < S; ++s) {
        double& to = beta[t * S + s];
        for (int64_t next = s; next < S && next <= s + 2; ++next)
          if (next < s + 2 || skips(next)) add(to, beta[(t + 1) * S + next]);
        to += y[t * V + symbol(s)];
      }
    double log_p = alpha[T * S - 1];
    if (S > 1) add(log_p, alpha[T * S - 2]);
    nats = -log_p;
    for (int64_t t = 0; t < T; ++t) {
      for (int64_t k = 0; k < V; ++k) gradient[t * V + k] = std::exp(y[t * V + k]);
      for (int64_t s = 0; s < S; ++s)
        gradient[t * V + symbol(s)] -=
            std::exp(alpha[t * S + s] + beta[t * S + s] - y[t * V + symbol(s)] - log_p);
    }
  }
  double nats;
  std::vector<double> gradient;
};

TEST(CtcLoss, AgreesWithPlainLoopsOverManyFrames) {
  const int64_t T = 400, V = 30;
  Labelling labels;
  for (int32_t j = 0; j < 47; ++j) labels.push_back(1 + j * j % 29);
  const Tensor scores({T, 1, V});
  fill_uniform(scores, {.seed = 3}, -3, 3);
  const PlainLoops expected(scores.to_vector(), V, labels);
  const Result result(scores, CtcTargets({labels}, {T}));
  EXPECT_NEAR(result.each[0], expected.nats, tolerance * expected.nats);
  expect_near(result.gradient, expected.gradient, tolerance, "the gradient");
}

TEST(CtcLoss, WithoutGradientsIsTheSame) {
  const Tensor scores = samples({{9, 2, 4}})[0];
  const CtcTargets targets({{1, 1, 3}, {2}}, {9, 4});
  const Numbers each = Result(scores, targets).each;
  EXPECT_EQ(ctc_loss(scores, targets).value().to_vector(), each);
  const NoGradient guard;
  EXPECT_EQ(ctc_loss(Variable::leaf(scores, Tensor::zeros(scores.shape())), targets).value().to_vector(),
            each);
}

TEST(CtcLoss, SkipsLabelsThatDoNotFit) {
  const Tensor scores = samples({{4, 4, 3}})[0];
  const CtcTargets targets({{1, 1, 2, 2}, {1, 2, 1}, {2}, {}}, {4, 2, 0, 0});
  EXPECT_EQ(targets.skipped(), 3);
  EXPECT_TRUE(targets.skips(0) && targets.skips(1) && targets.skips(2));
  EXPECT_FALSE(targets.skips(3));  // no frames, and nothing to say: certain
  const Result result(scores, targets);
  EXPECT_EQ(result.each, Numbers(4, 0));
  EXPECT_EQ(result.gradient, Numbers(4 * 4 * 3, 0));
  EXPECT_TRUE(fits_into({1, 1, 2}, 4));
  EXPECT_FALSE(fits_into({1, 1, 2}, 3));
}

// In a batch, beside a longer sequence and a skipped one, as alone; and whatever lies in the padding.
TEST(CtcLoss, OfASequenceDependsOnNothingElse) {
  const int64_t T = 40, V = 7;
  const Labelling longest = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 6}, mine = {3, 3, 5};
  const Tensor scores = samples({{T, 3, V}})[0], alone({9, 1, V});
  for (int64_t t = 0; t < T; ++t) {
    const Tensor frame = scores[t].slice(1, 2);
    if (t < 9)
      copy(frame, alone[t]);
    else
      fill(frame, nan);
  }
  const Result both(scores, CtcTargets({longest, mine, {1, 1}}, {T, 9, 2}));
  const Result one(alone, CtcTargets({mine}, {9}));
  EXPECT_EQ(both.each[1], one.each[0]);
  EXPECT_EQ(both.each[2], 0);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t k = 0; k < V; ++k) {
      EXPECT_EQ(both.gradient[(t * 3 + 1) * V + k], t < 9 ? one.gradient[t * V + k] : real(0));
      EXPECT_EQ(both.gradient[(t * 3 + 2) * V + k], 0);
    }
}

TEST(CtcLoss, OfImprobableScoresIsFinite) {
  Tensor scores = Tensor::zeros({6, 1, 3});
  for (int64_t t = 0; t < 6; ++t) scores.mutable_data()[t * 3] = 1000;  // a blank, surely
  const Result result(scores, CtcTargets({{1, 2}}, {6}));
  EXPECT_NEAR(result.each[0], 2000 - std::log(15), 1e-3);
  for (int64_t t = 0; t < 6; ++t) EXPECT_NEAR(result.gradient[t * 3], 1 - 10 / 15.0, 1e-3);
}

TEST(CtcLoss, OfImpossibleScoresIsInfiniteAndHasNoGradient) {
  Tensor scores = Tensor::zeros({3, 2, 3});
  for (int64_t t = 0; t < 3; ++t) scores.mutable_data()[t * 6 + 2] = -std::numeric_limits<real>::infinity();
  const Result result(scores, CtcTargets({{2}, {2}}, {3, 3}));
  EXPECT_EQ(result.each[0], std::numeric_limits<real>::infinity());
  EXPECT_NEAR(result.each[1], -std::log(6 / 27.0), 1e-6);
  for (int64_t t = 0; t < 3; ++t)
    for (int64_t k = 0; k < 3; ++k) EXPECT_EQ(result.gradient[t * 6 + k], 0);
}

TEST(CtcLoss, NaNIsNotHidden) {
  Tensor scores = samples({{5, 2, 3}})[0];
  scores.mutable_data()[6] = nan;
  const Result result(scores, CtcTargets({{1}, {2}}, {5, 5}));
  EXPECT_TRUE(std::isnan(result.each[0]));
  EXPECT_TRUE(std::isnan(result.gradient[1]));
  EXPECT_FALSE(std::isnan(result.each[1]));
}

TEST(CtcLoss, ErrorsSayWhatWasExpected) {
  const Variable scores(Tensor::zeros({4, 2, 3}));
  const auto error = [&](const Variable& x, const std::vector<Labelling>& labels, const Lengths& frames) {
    return any_error_of([&] { ctc_loss(x, CtcTargets(labels, frames)); });
  };
  EXPECT_EQ(error(scores, {{1}}, {4}),
            "[ctc_loss] scores [T, B, V] are needed for 1 sequences, got [4, 2, 3]");
  EXPECT_EQ(error(Tensor::zeros({4, 3}), {{1}, {1}}, {4, 4}),
            "[ctc_loss] scores [T, B, V] are needed for 2 sequences, got [4, 3]");
  EXPECT_EQ(error(scores, {{1}, {1}}, {4, 5}),
            "[ctc_loss] a sequence has 5 frames, of which scores [4, 2, 3] have 4");
  EXPECT_EQ(error(scores, {{1}, {1}}, {4, -1}), "[ctc_loss] sequence 1 has -1 frames");
  EXPECT_EQ(error(scores, {{1}, {1}}, {4}), "[ctc_loss] 2 sequences of labels need as many lengths, got 1");
  EXPECT_EQ(error(scores, {{1}, {3}}, {4, 4}),
            "[ctc_loss] label 3 is not in [1, 3), as scores [4, 2, 3] require");
  EXPECT_EQ(error(scores, {{0}, {1}}, {4, 4}), "[ctc_loss] label 0 of sequence 0 is not above 0, the blank");
}

}  // namespace
}  // namespace rondo::ctc_loss_test
