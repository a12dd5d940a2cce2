#include <gtest/gtest.h>

#include "lm/decoding/sampling.h"

namespace rondo {
namespace {

/// What is printed of these parts, with '|' between what each take() returns.
std::string printed(std::vector<std::string> stops, const std::vector<std::string>& parts) {
  StopStrings until(std::move(stops));
  std::string text;
  for (const std::string& part : parts) text += until.take(part) + "|";
  return text + until.rest() + (until.stopped() ? "." : "");
}

TEST(StopStrings, HoldsBackWhatMayBeOne) {
  EXPECT_EQ(printed({"END"}, {"a", "E", "N", "D", "b"}), "a|||||.");
  EXPECT_EQ(printed({"END"}, {"aE", "b", "EN"}), "a|Eb||EN");
  EXPECT_EQ(printed({}, {"a", "b"}), "a|b|");
  EXPECT_EQ(printed({"aab"}, {"a", "a", "a", "b"}), "||a||.");
  EXPECT_EQ(printed({"xx", "y"}, {"1x2y3"}), "1x2|.");
}

TEST(Sampling, MinPKeepsAShareOfTheMostProbable) {
  // Probabilities 1/2, 1/4, 1/8, 1/8.
  const std::vector<real> logits = {3 * std::log(real(2)), 2 * std::log(real(2)), std::log(real(2)),
                                    std::log(real(2))};
  const double last = 1 - 1e-9;
  EXPECT_EQ(sample_symbol(logits, {.min_p = 0}, last, -1), 3);
  EXPECT_EQ(sample_symbol(logits, {.min_p = 0.4}, last, -1), 1);
  EXPECT_EQ(sample_symbol(logits, {.min_p = 0.6}, last, -1), 0);
}

TEST(Sampling, ARepetitionPenaltyLowersWhatWasThere) {
  std::vector<real> logits = {2, -2, 2, -2};
  penalise_repetitions(logits, {true, true, false, false}, 4);
  EXPECT_EQ(logits, (std::vector<real>{0.5, -8, 2, -2}));
}

}  // namespace
}  // namespace rondo
