// What validation losses decide, against tables and curves that are worked out by hand: the learning rate,
// when to stop, when to begin to average; and the continuation from a saved state.
#include "optim/validation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/optim/state_in_memory.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

std::vector<double> rates(const Schedule& schedule, int64_t epochs) {
  std::vector<double> all;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) all.push_back(schedule.rate(epoch));
  return all;
}

TEST(Schedule, Constant) {
  Schedule schedule({}, 0.25);
  schedule.evaluated(1);
  schedule.evaluated(2);
  EXPECT_EQ(rates(schedule, 3), (std::vector<double>{0.25, 0.25, 0.25}));
}

TEST(Schedule, StepDecaysEverySoManyEpochs) {
  EXPECT_EQ(rates(Schedule({.kind = ScheduleKind::step, .decay = 0.5, .decay_every = 3}, 8), 8),
            (std::vector<double>{8, 8, 8, 4, 4, 4, 2, 2}));
  EXPECT_EQ(rates(Schedule({.kind = ScheduleKind::step, .decay = 0.1}, 1), 2), (std::vector<double>{1, 0.1}));
}

TEST(Schedule, DecayAfterAsZarembaPrintsIt) {
  // Small: "after 4 epochs we decrease it by a factor of 2 after each epoch".
  EXPECT_EQ(rates(Schedule({.kind = ScheduleKind::decay_after, .decay = 0.5, .decay_after = 4}, 1), 8),
            (std::vector<double>{1, 1, 1, 1, 0.5, 0.25, 0.125, 0.0625}));
  EXPECT_DOUBLE_EQ(Schedule({.kind = ScheduleKind::decay_after, .decay = 0.5, .decay_after = 4}, 1).rate(13),
                   std::pow(2, -9));
  // Large: 1 / 1.15 after the 14th.
  const Schedule large({.kind = ScheduleKind::decay_after, .decay = 1 / 1.15, .decay_after = 14}, 1);
  EXPECT_DOUBLE_EQ(large.rate(14), 1);
  EXPECT_DOUBLE_EQ(large.rate(16), 1 / 1.3225);
  // From the first epoch on.
  EXPECT_EQ(Schedule({.kind = ScheduleKind::decay_after, .decay = 0.5, .decay_after = 0}, 1).rate(1), 0.5);
}

TEST(Schedule, MilestonesDecayAfterEachListedEpoch) {
  EXPECT_EQ(rates(Schedule({.kind = ScheduleKind::milestones, .decay = 0.5, .decay_at = {2, 5}}, 8), 7),
            (std::vector<double>{8, 8, 4, 4, 4, 2, 2}));
  // The order is free, and an epoch listed twice counts twice.
  EXPECT_EQ(rates(Schedule({.kind = ScheduleKind::milestones, .decay = 0.5, .decay_at = {3, 1, 3}}, 8), 5),
            (std::vector<double>{8, 4, 4, 1, 1}));
}

/// The rate after each of these evaluations.
std::vector<double> after_each(Schedule& schedule, const std::vector<double>& losses) {
  std::vector<double> all;
  for (double loss : losses) {
    schedule.evaluated(loss);
    all.push_back(schedule.rate(1));
  }
  return all;
}

TEST(Schedule, PlateauHalvesWhenValidationStopsImproving) {
  Schedule schedule({.kind = ScheduleKind::plateau}, 8);
  EXPECT_EQ(schedule.rate(1), 8);
  //                                     best, equal is no improvement, better, worse, NaN
  EXPECT_EQ(after_each(schedule, {5, 4, 4, 4.5, 3, 3.5, NAN}), (std::vector<double>{8, 8, 4, 2, 2, 1, 0.5}));
  EXPECT_EQ(schedule.rate(100), 0.5);  // the epoch plays no part
}

TEST(Schedule, PlateauIsPatient) {
  Schedule schedule({.kind = ScheduleKind::plateau, .patience = 2}, 1);
  // Two evaluations without improvement pass, the third decays; then the count starts anew. Better than the
  // best so far counts, better than the last does not.
  EXPECT_EQ(after_each(schedule, {5, 6, 5.9, 5.8, 5.7, 5.6, 5.5, 4, 5, 5, 5}),
            (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125}));
  StateInMemory state;
  schedule.save(state);
  double best = 0;
  int64_t decays = 0;
  state.read("schedule.best", best, 0);
  state.read("schedule.decays", decays, 0, 100);
  EXPECT_EQ(best, 4);
  EXPECT_EQ(decays, 3);
}

std::string refusal(const ScheduleOptions& options, double rate = 1) {
  return refusal_of([&] { Schedule(options, rate); });
}

TEST(Schedule, RefusesBadOptions) {
  const auto expect_refused = [](const ScheduleOptions& options, double rate, const std::string& part) {
    EXPECT_NE(refusal(options, rate).find(part), std::string::npos) << refusal(options, rate);
  };
  for (const std::string& name : names_of(ScheduleKind())) {
    const ScheduleKind kind = *value_named<ScheduleKind>(name);
    EXPECT_EQ(refusal({.kind = kind}) == "", kind != ScheduleKind::milestones) << name;
  }
  expect_refused({.kind = ScheduleKind::milestones}, 1, "belong together");
  expect_refused({.decay_at = {3}}, 1, "belong together");
  expect_refused({.decay = 1.5}, 1, "decay = 1.5");
  expect_refused({.decay = -0.5}, 1, "decay = -0.5");
  expect_refused({.decay_every = 0}, 1, "decay_every = 0");
  expect_refused({.decay_after = -1}, 1, "decay_after = -1");
  expect_refused({.kind = ScheduleKind::milestones, .decay_at = {3, 0}}, 1, "decay_at = 0");
  expect_refused({.patience = -1}, 1, "patience = -1");
  expect_refused({}, NAN, "learning rate of nan");
  expect_refused({}, -1, "learning rate of -1");
  EXPECT_THROW(Schedule({}, 1).rate(0), Error);
}

/// The evaluations since the best one, after each of these. EXPECT that take() calls the best ones so.
std::vector<int64_t> after_each(BestLoss& best, const std::vector<double>& losses) {
  std::vector<int64_t> all;
  for (double loss : losses) {
    const bool is_best = best.take(loss);
    EXPECT_EQ(is_best, best.evaluations_since == 0) << loss;
    all.push_back(best.evaluations_since);
  }
  return all;
}

TEST(BestLoss, CountsEvaluationsWithoutImprovement) {
  BestLoss best;
  EXPECT_FALSE(best.is_known());
  // Equal is no improvement; better than the last but not the best is none either, nor is NaN.
  EXPECT_EQ(after_each(best, {5, 6, 4, 4, 3, 9, 8, INFINITY, NAN}),
            (std::vector<int64_t>{0, 1, 0, 1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(best.loss, 3);
  EXPECT_TRUE(best.is_known());
}

/// Whether `start`, saved and loaded after any of the losses, goes on as without that.
template <class Criterion>
void expect_goes_on(const Criterion& start, const std::vector<double>& losses) {
  Criterion whole = start;
  const auto expected = after_each(whole, losses);
  for (size_t saved = 0; saved <= losses.size(); ++saved) {
    Criterion first = start, second = start;
    const auto middle = losses.begin() + static_cast<std::ptrdiff_t>(saved);
    auto actual = after_each(first, {losses.begin(), middle});
    hand_over(first, second);
    for (const auto it : after_each(second, {middle, losses.end()})) actual.push_back(it);
    EXPECT_EQ(actual, expected) << "saved after " << saved;
  }
}

TEST(Validation, GoesOnExactlyFromItsState) {
  const ScheduleOptions options{.kind = ScheduleKind::plateau, .decay = 0.7, .patience = 1};
  expect_goes_on(Schedule(options, 0.3), {5, 6, 4, 7, 7, 3, 8, 8, 8, 8, 2, 9, 9});
}

TEST(NonMonotonicTrigger, NaNDoesNotFire) {
  NonMonotonicTrigger trigger(1);
  for (const double loss : std::vector<double>{1, 2, NAN, 1}) EXPECT_FALSE(trigger.take(loss));
  EXPECT_FALSE(trigger.fired());
}

/// len(logs) > n and val > min(logs[:-n])
bool as_defined(const std::vector<double>& logs, size_t n, double loss) {
  if (logs.size() <= n) return false;
  double lowest = logs[0];
  for (size_t i = 0; i + n < logs.size(); ++i) lowest = std::min(lowest, logs[i]);
  return loss > lowest;
}

TEST(NonMonotonicTrigger, IsItsDefinitionAndGoesOnFromItsState) {
  unsigned random = 1;
  for (size_t n = 1; n <= 6; ++n) {
    NonMonotonicTrigger trigger(static_cast<int64_t>(n));
    std::vector<double> logs;
    int fired = 0;
    for (int i = 0; i < 60; ++i) {
      random = random * 1664525u + 1013904223u;
      const double loss = 10.0 - 0.05 * i + (random >> 28) * 0.125;  // noise of few values: ties occur
      const bool expected = as_defined(logs, n, loss);
      NonMonotonicTrigger restored(static_cast<int64_t>(n));
      hand_over(trigger, restored);
      EXPECT_EQ(restored.take(loss), expected) << "n = " << n << ", evaluation " << i + 1;
      EXPECT_EQ(trigger.take(loss), expected);
      EXPECT_EQ(restored.fired(), trigger.fired());
      logs.push_back(loss);
      fired += expected;
    }
    EXPECT_GT(fired, 0);
    EXPECT_LT(fired, 60);
    StateInMemory state;
    trigger.save(state);
    EXPECT_EQ(state.size(), 3 + n) << "a few numbers, however long the training";
  }
}

TEST(NonMonotonicTrigger, RefusesAnEmptyWindow) { EXPECT_THROW(NonMonotonicTrigger(0), InputError); }

}  // namespace
}  // namespace rondo
