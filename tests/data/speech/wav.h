// WAV files for tests, written byte by byte from the format's description (Microsoft & IBM 1991): 16-bit PCM
// and floats; and a FLAC file.
#pragma once

#include <bit>
#include <cmath>
#include <vector>

#include "tests/data/files/little_endian.h"

namespace rondo {

/// Format 1: integers; 3: floats.
inline std::string wav_of_bytes(const std::string& data, std::uint32_t format, std::uint32_t sample_bytes,
                                std::uint32_t rate, std::uint32_t channels) {
  const std::size_t size = data.size(), frame = channels * sample_bytes;
  return "RIFF" + little_endian(36 + size, 4) + "WAVEfmt " + little_endian(16, 4) + little_endian(format, 2) +
         little_endian(channels, 2) + little_endian(rate, 4) + little_endian(rate * frame, 4) +
         little_endian(frame, 2) + little_endian(8 * sample_bytes, 2) + "data" + little_endian(size, 4) +
         data;
}
inline std::string wav_of(const std::vector<int>& samples, int rate = 8000, int channels = 1) {
  std::string data;
  for (const int sample : samples) data += little_endian(static_cast<std::uint16_t>(sample), 2);
  return wav_of_bytes(data, 1, 2, static_cast<std::uint32_t>(rate), static_cast<std::uint32_t>(channels));
}
inline std::string float_wav_of(const std::vector<float>& samples, std::uint32_t rate = 8000) {
  std::string data;
  for (const float sample : samples) data += little_endian(std::bit_cast<std::uint32_t>(sample), 4);
  return wav_of_bytes(data, 3, 4, rate, 1);
}

inline std::string bytes_of_hexadecimal(const std::string& hexadecimal) {
  std::string bytes;
  for (std::size_t at = 0; at < hexadecimal.size(); at += 2)
    bytes += static_cast<char>(std::stoi(hexadecimal.substr(at, 2), nullptr, 16));
  return bytes;
}

/// Written by libsndfile 1.2.2 with libFLAC 1.4.3 (Python's soundfile 0.13): soundfile.write("a.flac",
/// numpy.int16([0, 1, -1, 32767, -32768, 12, 300, -4000] * 2 + [5]), 8000).
inline std::string flac_of_17_samples() {
  return bytes_of_hexadecimal(
      "664c6143000000221000100000002c00002c01f400f0000000114bca503f984e20f7db27fe6041b1c509840000"
      "28200000007265666572656e6365206c6962464c414320312e342e3320323032333036323300000000fff86408"
      "0010930200000001ffff7fff8000000c012cf06000000001ffff7fff8000000c012cf06000052454");
}
/// As well, of numpy.zeros(16384, numpy.int16), without the blocks of comments.
inline std::string silent_flac() {
  return bytes_of_hexadecimal(
      "664c6143800000221000100000000b00000b01f400f000004000bb7df04e1b0a2570657527a7e108ae23fff8"
      "c4080004000000f854fff8c4080103000000942cfff8c408020a00000020a4fff8c408030d0000004cdc");
}

/// A tone of so many periods a sample, of 16 bits, loud enough to be no silence.
inline std::vector<int> tone(std::size_t samples, double periods, double loudness = 8000) {
  std::vector<int> tone;
  for (std::size_t n = 0; n < samples; ++n)
    tone.push_back(static_cast<int>(loudness * std::sin(6.283185307 * periods * static_cast<double>(n))));
  return tone;
}

}  // namespace rondo
