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

}  // namespace
}  // namespace rondo
