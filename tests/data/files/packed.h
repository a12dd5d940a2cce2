// Packed files of known bytes, made without the libraries that unpack them: they store what they hold as it
// is.
#pragma once

#include <string_view>

#include "tests/data/files/little_endian.h"

namespace rondo {

/// RFC 1952, with stored blocks (RFC 1951, 3.2.4).
inline std::string gzip_of(std::string_view content) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : content) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  constexpr std::size_t longest = 0xffff;
  for (std::size_t at = 0; at == 0 || at < content.size(); at += longest) {
    const std::string_view part = content.substr(at, longest);
    file += at + longest >= content.size() ? '\1' : '\0';
    file += little_endian(part.size(), 2) + little_endian(~part.size() & longest, 2);
    file += part;
  }
  return file + little_endian(~crc, 4) + little_endian(content.size(), 4);
}

/// RFC 8878, with raw blocks, a window of 1 MiB, neither size nor checksum.
inline std::string zstd_of(std::string_view content) {
  std::string file("\x28\xb5\x2f\xfd\x00\x50", 6);
  constexpr std::size_t longest = 100'000;
  for (std::size_t at = 0; at == 0 || at < content.size(); at += longest) {
    const std::string_view part = content.substr(at, longest);
    const bool is_last = at + longest >= content.size();
    file += little_endian(part.size() << 3 | is_last, 3);
    file += part;
  }
  return file;
}

}  // namespace rondo
