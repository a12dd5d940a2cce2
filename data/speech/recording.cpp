// Recordings; see data/speech/recording.h.
#include "data/speech/recording.h"

#include "data/files/input_file.h"

#ifdef RONDO_AUDIO
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#endif

namespace rondo {

void throw_no_audio() {
  throw_built_without("libsndfile and kissfft", "speech", "libsndfile1-dev libkissfft-dev");
}

#ifndef RONDO_AUDIO

bool has_audio() { return false; }
Recording recording_of(std::string_view, const std::string&, std::int64_t) { throw_no_audio(); }
Recording read_recording(const std::filesystem::path&, std::int64_t) { throw_no_audio(); }

#else

bool has_audio() { return true; }

namespace {

/// Bytes in memory as a file of libsndfile.
struct MemoryFile {
  std::string_view bytes;
  sf_count_t at = 0;

  static MemoryFile& of(void* file) { return *static_cast<MemoryFile*>(file); }
  sf_count_t size() const { return static_cast<sf_count_t>(bytes.size()); }
  sf_count_t seek(sf_count_t offset, int whence) {
    const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? at : size();
    return at = std::clamp<sf_count_t>(from + offset, 0, size());
  }
  sf_count_t read(void* to, sf_count_t count) {
    count = std::clamp<sf_count_t>(count, 0, size() - at);
    std::memcpy(to, bytes.data() + at, static_cast<std::size_t>(count));
    at += count;
    return count;
  }
};

SF_VIRTUAL_IO functions() {
  return {.get_filelen = [](void* file) { return MemoryFile::of(file).size(); },
          .seek = [](sf_count_t offset, int whence,
                     void* file) { return MemoryFile::of(file).seek(offset, whence); },
          .read = [](void* to, sf_count_t count, void* file) { return MemoryFile::of(file).read(to, count); },
          .write = [](const void*, sf_count_t, void*) -> sf_count_t { return 0; },
          .tell = [](void* file) { return MemoryFile::of(file).at; }};
}

/// The chunk sizes of a WAV file are in its header; libsndfile reads what is there of a shorter file without
/// an error. (A size of 2^32 - 1: the writer did not know it.)
void check_is_whole(std::string_view bytes, const std::string& name) {
  const auto size_at = [&](std::size_t at) {
    std::uint64_t size = 0;
    for (std::size_t i = 4; i-- > 0;) size = size << 8 | static_cast<unsigned char>(bytes[at + i]);
    return size;
  };
  constexpr std::size_t head = 8;  // of a chunk: its name and its size
  for (std::size_t at = 12; at + head <= bytes.size();) {
    const std::uint64_t size = size_at(at + 4), there = bytes.size() - at - head;
    if (bytes.substr(at, 4) == "data") {
      check_input(size <= there || size == std::numeric_limits<std::uint32_t>::max(),
                  "{}: truncated: its header announces {} bytes of samples, and it has {}", name, size,
                  there);
      return;
    }
    at += head + std::min(size + size % 2, there);
  }
}

}  // namespace

Recording recording_of(std::string_view bytes, const std::string& name, std::int64_t rate) {
  check_input(!bytes.empty(), "{}: empty; expected a recording in the format WAV", name);
  check_input(bytes.starts_with("RIFF") && bytes.substr(std::min<std::size_t>(8, bytes.size()), 4) == "WAVE",
              "{}: not in the format WAV; convert it, as in: sox FILE -r {} -c 1 NEW.wav", name, rate);
  check_is_whole(bytes, name);
  MemoryFile memory{bytes};
  SF_VIRTUAL_IO io = functions();
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> file(sf_open_virtual(&io, SFM_READ, &info, &memory),
                                                         sf_close);
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
  check_input(static_cast<std::uint64_t>(info.frames) <= 64 * std::uint64_t{bytes.size()},
              "{}: announces {} samples, more than {} bytes can have", name, info.frames, bytes.size());
  Recording recording{name, std::vector<float>(static_cast<std::size_t>(info.frames))};
  const sf_count_t read = sf_readf_float(file.get(), recording.samples.data(), info.frames);
  check_input(read == info.frames, "{}: truncated: {} of {} samples can be read", name, read, info.frames);
  constexpr float scale = 32768;  // of 16 bits, as Kaldi has them
  for (float& sample : recording.samples) sample *= scale;
  // Of floats: full scale is 1, and a little more occurs; squares of far more are infinite.
  constexpr float most_of_full_scale = 1000;
  for (const float sample : recording.samples)
    check_input(std::abs(sample) <= most_of_full_scale * scale,
                "{}: a sample is {}, and full scale is 1: the file is damaged", name, sample / scale);
  const auto [least, most] = std::minmax_element(recording.samples.begin(), recording.samples.end());
  check_input(*least < *most, "{}: silent: all {} samples are the same", name, info.frames);
  return recording;
}

Recording read_recording(const std::filesystem::path& file, std::int64_t rate) {
  return recording_of(read_regular_file(file, std::uint64_t{1} << 32), printable(file.string()), rate);
}

#endif

}  // namespace rondo
