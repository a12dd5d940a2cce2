// WAV files for tests, written byte by byte from the format's description (Microsoft & IBM 1991): 16-bit PCM.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace rondo {

inline std::string little_endian(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i & 0xff);
  return text;
}

inline std::string wav_of(const std::vector<int>& samples, int rate = 8000, int channels = 1) {
  std::string data;
  for (const int sample : samples) data += little_endian(static_cast<std::uint32_t>(sample), 2);
  const auto size = static_cast<std::uint32_t>(data.size());
  const auto per_second = static_cast<std::uint32_t>(rate * channels * 2);
  return "RIFF" + little_endian(36 + size, 4) + "WAVEfmt " + little_endian(16, 4) + little_endian(1, 2) +
         little_endian(static_cast<std::uint32_t>(channels), 2) +
         little_endian(static_cast<std::uint32_t>(rate), 4) + little_endian(per_second, 4) +
         little_endian(static_cast<std::uint32_t>(channels * 2), 2) + little_endian(16, 2) + "data" +
         little_endian(size, 4) + data;
}

/// A tone of so many periods a sample, of 16 bits, loud enough to be no silence.
inline std::vector<int> tone(std::size_t samples, double periods, double loudness = 8000) {
  std::vector<int> tone;
  for (std::size_t n = 0; n < samples; ++n)
    tone.push_back(static_cast<int>(loudness * std::sin(6.283185307 * periods * static_cast<double>(n))));
  return tone;
}

}  // namespace rondo
