// Rounding to bfloat16: the upper half of a float.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/backend.h"

namespace rondo {

/// The bits of x rounded to bfloat16, as a float's: the lower half is zero. Subnormal numbers are 0, as
/// VDPBF16PS reads them; NaN stays NaN.
HD uint32_t bf16_bits(real x) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(x)), magnitude = bits & 0x7fffffff;
  const uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);  // ties to even
  const uint32_t finite = magnitude < 0x00800000 ? bits & 0x80000000 : nearest;
  return (magnitude > 0x7f800000 ? bits | 0x00400000 : finite) & 0xffff0000;
}

/// The upper half of these bits: what is stored.
HD uint16_t bf16(real x) { return static_cast<uint16_t>(bf16_bits(x) >> 16); }

/// From row to row of numbers of 16 bits that are copies of rows `row_stride` apart: each begins at a
/// multiple of 16 bytes, for the tensor cores.
HD int64_t bf16_row_stride(int64_t row_stride) { return (row_stride + 7) / 8 * 8; }

}  // namespace rondo
