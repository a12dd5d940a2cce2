// Recordings; see data/speech/recording.h.
#include "data/speech/recording.h"

#include "data/files/input_file.h"

#ifdef RONDO_AUDIO
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#endif

namespace rondo {

void throw_no_audio() {
  throw_built_without("libsndfile and kissfft", "speech", "libsndfile1-dev libkissfft-dev");
}

#ifndef RONDO_AUDIO

bool has_audio() { return false; }
std::vector<float> read_recording(const std::filesystem::path&, std::int64_t) { throw_no_audio(); }

#else

bool has_audio() { return true; }

namespace {

/// The chunk sizes of a WAV file are in its header; libsndfile reads what is there of a shorter file without
/// an error. (A size of 2^32 - 1: the writer did not know it.)
void check_is_whole(const InputFile& file, const std::string& name) {
  constexpr std::uint64_t first = 12, head = 8;  // of a chunk: its name and its size
  for (std::uint64_t at = first; at + head <= file.size();) {
    std::string chunk(head, '\0');
    file.read(at, chunk);
    std::uint64_t size = 0;
    for (std::size_t i = head; i-- > 4;) size = size << 8 | static_cast<unsigned char>(chunk[i]);
    const std::uint64_t there = file.size() - at - head;
    if (chunk.starts_with("data")) {
      check_input(size <= there || size == std::numeric_limits<std::uint32_t>::max(),
                  "{}: truncated: its header announces {} bytes of samples, and it has {}", name, size,
                  there);
      return;
    }
    at += head + std::min(size + size % 2, there);
  }
}

void check_is_wav(const InputFile& file, const std::string& name, std::int64_t rate) {
  check_input(file.size() > 0, "{}: empty; expected a recording in the format WAV", name);
  std::string begin(std::min<std::uint64_t>(12, file.size()), '\0');
  file.read(0, begin);
  check_input(begin.starts_with("RIFF") && begin.ends_with("WAVE"),
              "{}: not in the format WAV; convert it, as in: sox FILE -r {} -c 1 NEW.wav", name, rate);
  check_is_whole(file, name);
}

}  // namespace

std::vector<float> read_recording(const std::filesystem::path& path, std::int64_t rate) {
  const std::string name = printable(path.string());
  const InputFile bytes(path);
  check_is_wav(bytes, name, rate);
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> file(sf_open(path.c_str(), SFM_READ, &info), sf_close);
  check_input(file != nullptr, "{}: no WAV file that libsndfile can read: {}", name,
              printable(sf_strerror(nullptr)));
  check_input(info.channels == 1, "{}: {} channels, and one is read: mix them, as in: sox FILE -c 1 NEW.wav",
              name, info.channels);
  check_input(info.samplerate == rate,
              "{}: {} samples a second, and this corpus has {} (data.sample_rate): resample it, as in: sox "
              "FILE -r {} NEW.wav",
              name, info.samplerate, rate, rate);
  check_input(info.frames > 0, "{}: no samples", name);
  // Of a hostile header libsndfile may announce more samples than there are bytes.
  check_input(static_cast<std::uint64_t>(info.frames) <= 64 * bytes.size(),
              "{}: announces {} samples, more than {} bytes can have", name, info.frames, bytes.size());
  std::vector<float> samples(static_cast<std::size_t>(info.frames));
  const sf_count_t read = sf_readf_float(file.get(), samples.data(), info.frames);
  check_input(read == info.frames, "{}: truncated: {} of {} samples can be read", name, read, info.frames);
  constexpr float scale = 32768;  // of 16 bits, as Kaldi has them
  for (float& sample : samples) sample *= scale;
  // Of floats: full scale is 1, and a little more occurs; squares of far more are infinite.
  constexpr float most_of_full_scale = 1000;
  for (const float sample : samples)
    check_input(std::abs(sample) <= most_of_full_scale * scale,
                "{}: a sample is {}, and full scale is 1: the file is damaged", name, sample / scale);
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  check_input(*least < *most, "{}: silent: all {} samples are the same", name, info.frames);
  return samples;
}

#endif

}  // namespace rondo
