// The non-monotonic trigger against validation curves whose outcome is worked out by hand, and against the
// sentence that defines it.
#include "optim/validation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/optim/state_in_memory.h"

namespace rondo {
namespace {

/// The evaluations, counted from 1, at which it fires.
std::vector<int> fires_at(int64_t n, const std::vector<double>& losses) {
  NonMonotonicTrigger trigger(n);
  std::vector<int> at;
  for (size_t i = 0; i < losses.size(); ++i)
    if (trigger.take(losses[i])) at.push_back(static_cast<int>(i) + 1);
  EXPECT_EQ(trigger.fired(), !at.empty());
  return at;
}

using Fires = std::vector<int>;

TEST(NonMonotonicTrigger, WaitsForMoreThanNLosses) {
  // Rising from the start. With n = 5 the seventh is the first that can: six are known, and all but the last
  // five of them are the first.
  EXPECT_EQ(fires_at(5, {1, 2, 3, 4, 5, 6}), Fires{});
  EXPECT_EQ(fires_at(5, {1, 2, 3, 4, 5, 6, 7}), Fires{7});
  EXPECT_EQ(fires_at(1, {1, 2, 3}), Fires{3});
}

TEST(NonMonotonicTrigger, NeverOnACurveThatFalls) {
  std::vector<double> falling;
  for (int i = 0; i < 1000; ++i) falling.push_back(100.0 / (1 + i));
  EXPECT_EQ(fires_at(5, falling), Fires{});
  EXPECT_EQ(fires_at(1, falling), Fires{});
}

TEST(NonMonotonicTrigger, ATieIsNotAbove) {
  EXPECT_EQ(fires_at(2, {4, 4, 4, 4, 4, 4}), Fires{});
  EXPECT_EQ(fires_at(2, {5, 4, 3, 3, 3, 3, 3.5}), Fires{7});  // above the 3 of evaluations 3 and 4
}

TEST(NonMonotonicTrigger, NoiseWithinTheLastNIsLetPass) {
  // n = 3. Evaluation 6 (7) is worse than 5 (5), but not than the lowest of all but the last three: 9, 8.
  // Evaluation 9 (6) is above the 5 that is now older than three.
  EXPECT_EQ(fires_at(3, {9, 8, 7, 6, 5, 7, 4.9, 4.8, 6, 4.7}), Fires{9});
}

TEST(NonMonotonicTrigger, NaNDoesNotFire) { EXPECT_EQ(fires_at(1, {1, 2, NAN, 1}), Fires{}); }

TEST(NonMonotonicTrigger, OnRecordedCurves) {
  // Of awd-lstm-small-ptb, four evaluations an epoch: it rises at 13 and at 26, but not above the lowest of
  // all but the last one.
  EXPECT_EQ(fires_at(1, {6.0145, 5.6510, 5.4287, 5.3802, 5.3016, 5.1943, 5.1191, 5.0709, 5.0552,
                         5.0020, 4.9455, 4.9102, 4.9111, 4.8774, 4.8581, 4.8159, 4.8133, 4.7989,
                         4.7852, 4.7572, 4.7429, 4.7429, 4.7321, 4.7128, 4.6995, 4.7000}),
            Fires{});
  // Of a mixture in three layers that SGD at rate 20 did not get beyond the frequencies of the words:
  // evaluation 4 is not above the lowest of the first two, 5 is above the lowest of the first three.
  EXPECT_EQ(fires_at(1, {6.6211, 6.5765, 6.5549, 6.5723, 6.5649, 6.5489, 6.5525}), Fires{5});
  EXPECT_EQ(fires_at(5, {6.6211, 6.5765, 6.5549, 6.5723, 6.5649, 6.5489, 6.5525}), Fires{});
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
