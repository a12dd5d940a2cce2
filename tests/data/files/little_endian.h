// Numbers as the bytes of a file, and a safetensors file of its parts.
#pragma once

#include <cstdint>
#include <string>

namespace rondo {

/// The lowest byte first.
inline std::string little_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i & 0xff);
  return text;
}

/// A safetensors file: the length of its header, the header, the values.
inline std::string safetensors_of(const std::string& header, const std::string& values = "") {
  return little_endian(header.size(), 8) + header + values;
}

}  // namespace rondo
