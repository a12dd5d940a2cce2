// Stands in for CUDA's header on the emulated GPU: a number in bfloat16, rounded to nearest.
#pragma once

#include <cstdint>
#include <cstring>

struct __nv_bfloat16 {
  uint16_t upper_half;

  operator float() const {
    const uint32_t word = uint32_t{upper_half} << 16;
    float x;
    std::memcpy(&x, &word, sizeof x);
    return x;
  }
};
inline __nv_bfloat16 __float2bfloat16(float x) {
  uint32_t word;
  std::memcpy(&word, &x, sizeof x);
  if (x != x) return {0x7fff};
  return {static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16)};
}
