// Rounding to int8: a row of numbers as a scale and whole multiples of it. Who uses it:
// tensor/products/packed_gemm.h for products, lm/training/checkpoint.h for files.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "tensor/backend.h"

namespace rondo {

/// Returns the scale of a row, its largest magnitude / 127, and fills `to` with the nearest multiples of it,
/// -127 to 127; these times the scale give the same multiples again. If a number is not finite, the scale is
/// NaN. If the scale would be below the smallest normal number, it is 0, and so are the multiples.
inline float round_to_int8(const real* from, int64_t count, int8_t* to) {
  constexpr uint32_t infinity = 0x7f800000;
  uint32_t largest = 0;  // as bits, whose order is that of magnitudes, NaN last
  for (int64_t k = 0; k < count; ++k)
    largest = std::max(largest, std::bit_cast<uint32_t>(static_cast<float>(from[k])) & 0x7fffffff);
  const float scale = std::bit_cast<float>(largest) / 127;
  const bool finite = largest < infinity, normal = finite && scale >= std::numeric_limits<float>::min();
  const float inverse = normal ? 1 / scale : 0;
  constexpr float shift = 12582912;  // 1.5 * 2^23: adding it puts the nearest integer into the low bits
  for (int64_t k = 0; k < count; ++k)
    to[k] = static_cast<int8_t>(std::bit_cast<uint32_t>(static_cast<float>(from[k]) * inverse + shift));
  return normal ? scale : finite ? 0 : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace rondo
