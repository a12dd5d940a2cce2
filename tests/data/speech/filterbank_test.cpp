// The filterbank and its deltas against what Kaldi computes: tests/golden/make_filterbank_golden.py.
#include <nlohmann/json.hpp>

#include "data/speech/features.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

const nlohmann::json& golden() {
  static const nlohmann::json it =
      nlohmann::json::parse(bytes_of_file(RONDO_SOURCE_DIR "/tests/golden/filterbank.json"));
  return it;
}

FilterbankOptions options_of(const nlohmann::json& it) {
  return {.sample_rate = it.at("sample_rate"),
          .window = it.at("window"),
          .step = it.at("step"),
          .filters = it.at("filters"),
          .lowest = it.at("lowest"),
          .highest = it.at("highest"),
          .energy = it.at("energy")};
}

TEST(Filterbank, IsKaldis) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const auto samples = golden().at("samples").get<std::vector<float>>();
  for (const nlohmann::json& it : golden().at("cases")) {
    Filterbank filterbank(options_of(it));
    const std::vector<float> numbers = filterbank(samples);
    const auto expected = it.at("numbers").get<std::vector<float>>();
    ASSERT_EQ(numbers.size(), expected.size());
    EXPECT_EQ(std::ssize(numbers), it.at("frames").get<std::int64_t>() * width_of(filterbank.options()));
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], 2e-3) << i;
    EXPECT_EQ(filterbank(samples), numbers) << "nothing is kept from one recording to the next";
  }
}

TEST(Filterbank, IsOfWholeFrames) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  Filterbank filterbank({.sample_rate = 8000, .filters = 5});  // 200 samples every 80
  const auto frames = [&](std::size_t samples) {
    return std::ssize(filterbank(std::vector<float>(samples, 1))) / width_of(filterbank.options());
  };
  EXPECT_EQ(frames(199), 0);
  EXPECT_EQ(frames(200), 1);
  EXPECT_EQ(frames(279), 1);
  EXPECT_EQ(frames(280), 2);
}

TEST(Filterbank, RefusesWhatContradicts) {
  const auto refusal = [](const FilterbankOptions& options) {
    return error_of<InputError>([&] { check_options(options); });
  };
  expect_contains(refusal({.sample_rate = 8000, .highest = 4001}), "8000 samples a second have no frequency");
  expect_contains(refusal({.sample_rate = 8000, .lowest = 4000}),
                  "lowest = 4000: not below data.highest = 4000");
  expect_contains(refusal({.lowest = 300, .highest = 300}), "lowest = 300: not below data.highest = 300");
  expect_contains(refusal({.sample_rate = 8000, .filters = 200}), "so narrow");
  expect_contains(refusal({.sample_rate = 1000, .window = 2}), "too few");
}

TEST(Deltas, AreTheSlopesOfARegression) {
  for (const nlohmann::json& it : golden().at("cases")) {
    const Frames frames{width_of(options_of(it)), it.at("numbers").get<std::vector<float>>()};
    const auto expected = it.at("deltas").get<std::vector<float>>();
    const Frames deltas = deltas_of(frames);
    ASSERT_EQ(deltas.numbers.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(deltas.numbers[i], expected[i], 1e-5) << i;
  }
}

}  // namespace
}  // namespace rondo
