// WAV files: what is read of good ones, and what is said of others.
#include "data/speech/features.h"
#include "tests/data/speech/wav.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

TEST(Recording, HasTheSamplesOfTheFile) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const TemporaryFolder folder;
  write_bytes(folder / "a.wav", wav_of({0, 1, -1, 32767, -32768, 12}, 16000));
  EXPECT_EQ(read_recording(folder / "a.wav", 16000), (std::vector<float>{0, 1, -1, 32767, -32768, 12}));
}

TEST(Recording, IsRefusedInOneLine) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& bytes) {
    write_bytes(folder / "x.wav", bytes);
    return error_of<InputError>([&] { read_recording(folder / "x.wav", 8000); });
  };
  const std::string good = wav_of(tone(100, 0.1));
  expect_contains(refusal(""), "x.wav: empty; expected a recording in the format WAV");
  expect_contains(refusal("a text"), "x.wav: not in the format WAV; convert it");
  expect_contains(refusal("RIFF"), "x.wav: not in the format WAV");
  expect_contains(refusal(good.substr(0, 200)),
                  "x.wav: truncated: its header announces 200 bytes of samples, and it has 156");
  expect_contains(refusal(good.substr(0, 20)), "x.wav: no WAV file that libsndfile can read");
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
