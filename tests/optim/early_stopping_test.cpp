// Early stopping against tables worked out by hand.
#include "optim/validation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/optim/state_in_memory.h"

namespace rondo {
namespace {

/// Whether to stop, after each of these evaluations.
std::vector<bool> after_each(EarlyStopping& stopping, const std::vector<double>& losses) {
  std::vector<bool> all;
  for (double loss : losses) {
    stopping.evaluated(loss);
    all.push_back(stopping.should_stop());
  }
  return all;
}

TEST(EarlyStopping, StopsAfterSoManyEvaluationsWithoutImprovement) {
  EarlyStopping stopping(2);
  EXPECT_FALSE(stopping.should_stop());
  // Equal is no improvement; better than the last but not the best is none either.
  EXPECT_EQ(after_each(stopping, {5, 6, 4, 4, 3, 9, 8}),
            (std::vector<bool>{false, false, false, false, false, false, true}));
  EXPECT_EQ(stopping.best().loss, 3);
  EXPECT_EQ(stopping.best().evaluations_since, 2);

  EarlyStopping once(1);
  EXPECT_EQ(after_each(once, {5, 5}), (std::vector<bool>{false, true}));
}

TEST(EarlyStopping, SaysWhatIsTheBest) {
  EarlyStopping stopping(0);
  EXPECT_TRUE(stopping.evaluated(5));
  EXPECT_FALSE(stopping.evaluated(5));
  EXPECT_FALSE(stopping.evaluated(NAN));
  EXPECT_FALSE(stopping.evaluated(INFINITY));
  EXPECT_TRUE(stopping.evaluated(4));
}

TEST(EarlyStopping, NaNIsNoImprovement) {
  EarlyStopping stopping(3);
  EXPECT_EQ(after_each(stopping, {NAN, NAN, NAN}), (std::vector<bool>{false, false, true}));
}

TEST(EarlyStopping, ZeroNeverStops) {
  EarlyStopping never(0);
  for (int i = 0; i < 1000; ++i) never.evaluated(i);
  EXPECT_FALSE(never.should_stop());
  EXPECT_THROW(EarlyStopping(-1), InputError);
}

TEST(EarlyStopping, ContinuesExactlyFromItsState) {
  const std::vector<double> losses{5, 6, 4, 7, 3, 8, 8, 8};
  EarlyStopping whole(3);
  const std::vector<bool> expected = after_each(whole, losses);
  EXPECT_TRUE(expected.back());
  for (size_t saved = 0; saved <= losses.size(); ++saved) {
    EarlyStopping first(3), second(3);
    const auto middle = losses.begin() + static_cast<std::ptrdiff_t>(saved);
    std::vector<bool> actual = after_each(first, {losses.begin(), middle});
    hand_over(first, second);
    for (bool stop : after_each(second, {middle, losses.end()})) actual.push_back(stop);
    EXPECT_EQ(actual, expected) << "saved after " << saved;
  }
}

}  // namespace
}  // namespace rondo
