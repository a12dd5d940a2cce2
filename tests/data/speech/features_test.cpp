// Recordings, frames and the filterbank: data/speech/features.h. The last against what Kaldi computes:
// tests/golden/make_filterbank_golden.py.
#include "data/speech/features.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/data/speech/wav.h"
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

// ---- frames: normalised, with deltas, several a step ----

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

// ---- WAV files: what is read of good ones, and what is said of others ----

TEST(Recording, HasTheSamplesOfTheFile) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const TemporaryFolder folder;
  write_bytes(folder / "a.wav", wav_of({0, 1, -1, 32767, -32768, 12}, 16000));
  EXPECT_EQ(read_recording(folder / "a.wav", 16000), (std::vector<float>{0, 1, -1, 32767, -32768, 12}));
}

// The samples are those of the same file with its true size.
TEST(Recording, WhoseWriterDidNotKnowItsLengthIsReadToTheEnd) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const TemporaryFolder folder;
  const std::vector<float> samples{0, 1, -1, 32767, -32768, 12};
  const std::string good = wav_of({0, 1, -1, 32767, -32768, 12});
  constexpr std::size_t of_file = 4, of_samples = 40;  // where the sizes are
  const auto read_with = [&](std::uint32_t file_size, std::uint32_t samples_size) {
    std::string bytes = good;
    bytes.replace(of_file, 4, little_endian(file_size, 4));
    bytes.replace(of_samples, 4, little_endian(samples_size, 4));
    write_bytes(folder / "a.wav", bytes);
    return read_recording(folder / "a.wav", 8000);
  };
  for (const std::uint32_t size : {0u, 0x7ffff000u, 0x80000000u, 0xffffffffu}) {
    EXPECT_EQ(read_with(size + 36, size), samples) << size;
    EXPECT_EQ(read_with(size, size), samples) << size;
  }
  expect_contains(error_of<InputError>([&] { read_with(0x7fffefff + 36u, 0x7fffefff); }),
                  "truncated: its header announces 2147479551 bytes of samples, and it has 12");
  expect_contains(error_of<InputError>([&] { read_with(48, 0); }), "a.wav: no samples");
}

TEST(Recording, OfOtherFormatsIsRead) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const TemporaryFolder folder;
  const std::string flac = flac_of_17_samples();
  const std::vector<float> samples{0, 1,  -1,    32767,  -32768, 12,  300,   -4000, 0,
                                   1, -1, 32767, -32768, 12,     300, -4000, 5};
  write_bytes(folder / "a.flac", flac);
  EXPECT_EQ(read_recording(folder / "a.flac", 8000), samples);
  write_bytes(folder / "a.wav", flac);
  EXPECT_EQ(read_recording(folder / "a.wav", 8000), samples) << "its name does not matter";
  std::string from_pipe = flac;
  from_pipe[25] = '\0';  // the number of samples: not known
  write_bytes(folder / "a.flac", from_pipe);
  EXPECT_EQ(read_recording(folder / "a.flac", 8000), samples);
  expect_contains(error_of<InputError>([&] { read_recording(folder / "a.flac", 16000); }),
                  "a.flac: 8000 samples a second, and this corpus has 16000");
  write_bytes(folder / "a.flac", silent_flac());  // of more samples than it has bytes
  expect_contains(error_of<InputError>([&] { read_recording(folder / "a.flac", 8000); }),
                  "a.flac: silent: all 16384 samples are the same");
  write_bytes(folder / "a.flac", flac.substr(0, 100));
  expect_contains(error_of<InputError>([&] { read_recording(folder / "a.flac", 8000); }), "a.flac: ");
}

TEST(Recording, IsRefusedInOneLine) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& bytes) {
    write_bytes(folder / "x.wav", bytes);
    return error_of<InputError>([&] { read_recording(folder / "x.wav", 8000); });
  };
  const std::string good = wav_of(tone(100, 0.1));
  expect_contains(refusal(""), "x.wav: empty; expected a recording");
  expect_contains(refusal("a text"), "x.wav: no recording that libsndfile can read (");
  expect_contains(refusal("a text"), "); convert it, as in: sox FILE -r 8000 -c 1 NEW.wav");
  expect_contains(refusal("RIFF"), "x.wav: no recording that libsndfile can read");
  expect_contains(refusal(good.substr(0, 200)),
                  "x.wav: truncated: its header announces 200 bytes of samples, and it has 156");
  expect_contains(refusal(good.substr(0, 20)), "x.wav: no recording that libsndfile can read");
  expect_contains(refusal(wav_of(tone(100, 0.1), 16000)),
                  "x.wav: 16000 samples a second, and this corpus has 8000 (data.sample_rate): resample it");
  expect_contains(refusal(wav_of(tone(100, 0.1), 8000, 2)), "x.wav: 2 channels, and one is read: mix them");
  expect_contains(refusal(wav_of({})), "x.wav: no samples");
  expect_contains(refusal(wav_of(std::vector<int>(50, 7))), "x.wav: silent: all 50 samples are the same");
  for (const float damaged : {std::nanf(""), INFINITY, 1e34f}) {  // in the middle, where no order finds it
    std::vector<float> samples = {0.1f, -0.2f, damaged, 0.3f};
    expect_contains(refusal(float_wav_of(samples)), "and full scale is 1: the file is damaged");
  }
  EXPECT_EQ(error_of<InputError>([] { read_recording("nowhere.wav", 8000); }).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace rondo
