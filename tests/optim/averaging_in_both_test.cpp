// The average of weights against plain double arithmetic; NT-ASGD whole against plain loops.
#include "optim/averaging.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "optim/step_control.h"
#include "optim/validation.h"
#include "tests/optim/flat.h"
#include "tests/optim/state_in_memory.h"
#include "tests/tensor/near.h"

namespace rondo {
namespace {

constexpr bool in_double = sizeof(real) == 8;

Tensor average_of(const AveragedWeights& weights) { return weights.state_tensors().at(0).tensor; }

// In float, one number alone would stop to move: a tenth of a thousandth of the step is below its last digit.
TEST(AveragedWeights, AfterManyStepsTheNextStillCounts) {
  const Tensor values = Tensor::filled({16}, 1000);
  AveragedWeights average(values);
  average.start();
  const int before = 4000, after = 200000;
  for (int t = 1; t < before; ++t) average.update();
  fill(values, real(1000.125));
  for (int t = 0; t < after; ++t) average.update();
  const double expected = 1000 + 0.125 * after / (before + after);
  expect_near(average_of(average).to_vector(), std::vector<double>(16, expected), in_double ? 1e-9 : 1e-7);
}

TEST(AveragedWeights, AreInForceForAScopeThatMayBeLeftInAnyWay) {
  const Tensor values = flat({1, 2, 1.0 / 3});
  AveragedWeights average(values);
  EXPECT_TRUE(average.state_tensors().empty()) << "no memory before the start";
  {
    const AveragedWeights::Scope nothing(average);
    EXPECT_EQ(values.to_vector(), flat({1, 2, 1.0 / 3}).to_vector());
  }
  average.start();
  copy(flat({3, -2, 0.1}), values);
  average.update();
  const std::vector<real> raw = values.to_vector(), mean = average_of(average).to_vector();
  EXPECT_EQ(raw, flat({3, -2, 0.1}).to_vector());
  const uint64_t version = values.version();
  try {
    const AveragedWeights::Scope guard(average);
    EXPECT_EQ(values.to_vector(), mean);
    EXPECT_GT(values.version(), version) << "what was computed from the weights is stale";
    EXPECT_THROW(average.update(), Error);
    EXPECT_THROW(average.state_tensors(), Error);
    EXPECT_THROW(AveragedWeights::Scope{average}, Error);
    throw std::runtime_error("as an evaluation that fails");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(values.to_vector(), raw);
  EXPECT_EQ(average_of(average).to_vector(), mean);
}

TEST(AveragedWeights, RefuseWhatHasNoMeaning) {
  AveragedWeights average(Tensor::zeros({2}));
  EXPECT_THROW(average.update(), Error);
  StateInMemory state;
  state.add("averaging.count", int64_t{-1});
  EXPECT_THROW(average.load(state, {}), InputError);
  average.start();
  EXPECT_THROW(average.start(), Error);
}

/// A quadratic bowl in three directions with recorded noise: the gradient at w in step t.
constexpr double noise[] = {0.9, -0.4, 0.7, -1.1, 0.2, 0.6, -0.8, 0.3, -0.2, 1.0, -0.5, 0.4};
double gradient(double w, size_t i, int t) {
  return (i + 1) * (w - 0.5) + noise[(3 * static_cast<size_t>(t) + 5 * i) % std::size(noise)];
}

// Merity et al. 2018, algorithm 1, with clipping and weight decay, an "epoch" of four steps and n = 2.
TEST(NonMonotonicallyTriggeredAsgd, IsItsPlainLoops) {
  const double rate = 0.3, decay = 0.01, most = 0.8;
  const std::vector<double> losses = {5, 4, 3, 3.5, 2.9, 3.2, 2, 1, 4};  // n = 2: the sixth is above 3
  const Tensor values = flat({2, -1, 4}), gradients = Tensor::zeros({3});
  const auto sgd = make_optimizer({.kind = OptimizerKind::sgd, .weight_decay = decay}, values, gradients);
  NonMonotonicTrigger trigger(2);
  AveragedWeights average(values);

  std::vector<double> w = {2, -1, 4}, sums(3, 0);
  int count = 0;  // of weights in the sums; 0: not switched
  for (size_t epoch = 0; epoch < losses.size(); ++epoch) {
    for (int t = static_cast<int>(epoch) * 4; t < static_cast<int>(epoch + 1) * 4; ++t) {
      double squares = 0, g[3];
      for (size_t i = 0; i < 3; ++i) {
        g[i] = gradient(w[i], i, t);
        squares += g[i] * g[i];
      }
      const double factor = std::min(1.0, most / (std::sqrt(squares) + 1e-6));
      for (size_t i = 0; i < 3; ++i) w[i] -= rate * (factor * g[i] + decay * w[i]);
      if (count > 0) {
        for (size_t i = 0; i < 3; ++i) sums[i] += w[i];
        ++count;
      }

      for (size_t i = 0; i < 3; ++i)
        gradients.mutable_data()[i] = static_cast<real>(gradient(values.to_vector()[i], i, t));
      sgd->step(rate, clipping_factor(gradient_norm(gradients), most));
      if (average.started()) average.update();
    }
    if (count == 0 && epoch == 5) {
      sums = w;
      count = 1;
    }
    if (!average.started() && trigger.take(losses[epoch])) average.start();
    ASSERT_EQ(average.count(), count) << "after epoch " << epoch + 1;
    expect_near(values.to_vector(), w, in_double ? 1e-9 : 1e-5);
    if (count == 0) continue;
    std::vector<double> means = sums;
    for (double& mean : means) mean /= count;
    const AveragedWeights::Scope guard(average);
    expect_near(values.to_vector(), means, in_double ? 1e-9 : 1e-5);
  }
  EXPECT_EQ(count, 13);
}

}  // namespace
}  // namespace rondo
