// Frames: normalised, with deltas, several a step.
#include <cmath>

#include "data/speech/features.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

FrameOptions options_of(std::int64_t deltas, std::int64_t stack) {
  return {.filterbank = {.filters = 2}, .deltas = deltas, .stack = stack};
}

TEST(Frames, AreNormalizedToMeanZeroAndVarianceOne) {
  Frames a{2, {1, 5, 3, 5, 5, 5}}, b{2, {7, 5}};
  FrameStatistics statistics;
  statistics.add(a);
  statistics.add(b);
  statistics.normalize(a);
  statistics.normalize(b);
  // Mean 4, variance (9 + 1 + 1 + 9) / 4 = 5; the second number never changes.
  const float unit = 1 / std::sqrt(5.0F);
  const std::vector<float> expected{-3 * unit, 0, -unit, 0, unit, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(a.numbers[i], expected[i], 1e-6);
  EXPECT_NEAR(b.numbers[0], 3 * unit, 1e-6);

  const std::string text = statistics.to_text();
  EXPECT_EQ(FrameStatistics::from_text(text, "frames.txt", 2).to_text(), text);
  const auto refusal = [](const std::string& damaged, std::int64_t width) {
    return error_of<InputError>([&] { FrameStatistics::from_text(damaged, "frames.txt", width); });
  };
  expect_contains(refusal(text, 3), "frames.txt: 3 lines, and 3 numbers of a frame have 4");
  expect_contains(refusal("0\n1 2\n1 2\n", 2), "frames.txt: line 1: expected the number");
  expect_contains(refusal("4\n1 2\n1 x\n", 2), "frames.txt: line 3: expected two sums");
  expect_contains(refusal("4\n1 2 3\n1 2\n", 2), "frames.txt: line 2: expected two sums");
  expect_contains(refusal("4\n1\n1 2\n", 2), "frames.txt: line 2: expected two sums");
}

TEST(Frames, BecomeSteps) {
  const Frames frames{2, {1, 10, 2, 20, 4, 40}};
  EXPECT_EQ(steps_of(frames, options_of(0, 1)).numbers, frames.numbers);
  const Frames stacked = steps_of(frames, options_of(0, 2));
  EXPECT_EQ(stacked.width, 4);
  EXPECT_EQ(stacked.numbers, (std::vector<float>{1, 10, 2, 20, 4, 40, 4, 40}))
      << "the last frame is repeated";
  EXPECT_EQ(steps_of(3, options_of(0, 2)), 2);

  // Slopes: (1 (2 - 1) + 2 (4 - 1)) / 10, (1 (4 - 1) + 2 (4 - 1)) / 10, (1 (4 - 2) + 2 (4 - 1)) / 10.
  const Frames sloped = steps_of(frames, options_of(1, 1));
  EXPECT_EQ(sloped.width, 4);
  const std::vector<float> expected{1, 10, 0.7F, 7, 2, 20, 0.9F, 9, 4, 40, 0.8F, 8};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(sloped.numbers[i], expected[i], 1e-6) << i;
  const Frames twice = steps_of(frames, options_of(2, 3));
  EXPECT_EQ(twice.width, width_of(options_of(2, 3)));
  EXPECT_EQ(twice.size(), 1);
  // The second slope of the first frame: (1 (0.9 - 0.7) + 2 (0.8 - 0.7)) / 10.
  EXPECT_NEAR(twice.numbers[4], 0.04, 1e-6);
}

}  // namespace
}  // namespace rondo
