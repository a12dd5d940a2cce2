#include <gtest/gtest.h>

#include "lm/decoding/sampling.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

/// What is printed of these parts, with '|' between what each take() returns.
std::string printed(std::vector<std::string> stops, const std::vector<std::string>& parts) {
  StopStrings until(std::move(stops));
  std::string text;
  for (const std::string& part : parts) text += until.take(part) + "|";
  return text + until.rest() + (until.stopped() ? "." : "");
}

TEST(Sampling, RefusesWhatItCannotSampleFrom) {
  const std::string options =
      "[sampling] a temperature and a top_k of 0 or more and a top_p above 0, up to 1, were expected: ";
  const auto error = [](const SamplingOptions& given, const std::vector<real>& logits = {1, 2}) {
    return any_error_of([&] { sample_symbol(logits, given, 0.5, 0); });
  };
  EXPECT_EQ(error({.temperature = -1}), options + "-1, 0 and 1");
  EXPECT_EQ(error({.temperature = std::nan("")}), options + "nan, 0 and 1");
  EXPECT_EQ(error({.top_k = -1}), options + "1, -1 and 1");
  EXPECT_EQ(error({.top_p = 0}), options + "1, 0 and 0");
  EXPECT_EQ(error({.top_p = 2}), options + "1, 0 and 2");
  EXPECT_EQ(error({}, {1, real(std::nan("")), 2}),
            "[sampling] the most probable of 2 symbols has the logit nan");
  EXPECT_EQ(error({}, {1}), "[sampling] the most probable of 0 symbols has the logit -inf");
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
