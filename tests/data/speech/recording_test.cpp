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
