// The intrinsics of AMX that tensor/products/amx_kernels.cpp calls, in plain C++ after the operations in
// Intel's manual (Software Developer's Manual, volume 2), so that the kernels are tested on every machine.
// What the CPU answers with a fault ends the program. Each thread has its own registers.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rondo {
namespace {

inline void fault_unless(bool valid, const char* what) {
  if (valid) return;
  std::fprintf(stderr, "emulated AMX: %s\n", what);
  std::abort();
}

struct EmulatedRegister {
  int rows = 0, row_bytes = 0;
  std::array<std::array<uint32_t, 16>, 16> words = {};
  int columns() const { return row_bytes / 4; }
};

/// The registers of this thread; all have 0 rows until a configuration is loaded.
inline std::array<EmulatedRegister, 8>& emulated_registers() {
  static thread_local std::array<EmulatedRegister, 8> all;
  return all;
}
inline EmulatedRegister& configured(int number) {
  EmulatedRegister& it = emulated_registers().at(static_cast<size_t>(number));
  fault_unless(it.rows > 0 && it.row_bytes > 0 && it.row_bytes % 4 == 0, "a register that is not configured");
  return it;
}

inline void _tile_release() { emulated_registers() = {}; }

inline void _tile_loadconfig(const void* from) {
  uint8_t bytes[64];
  std::memcpy(bytes, from, sizeof bytes);
  _tile_release();
  fault_unless(bytes[0] == 1, "a palette other than 1");
  fault_unless(bytes[1] == 0, "a row to restart at");  // for interrupted loads alone
  for (int i = 2; i < 16; ++i) fault_unless(bytes[i] == 0, "a reserved byte");
  for (int i = 0; i < 16; ++i) {
    const int row_bytes = bytes[16 + 2 * i] + 256 * bytes[17 + 2 * i], rows = bytes[48 + i];
    fault_unless(row_bytes <= 64 && rows <= 16, "a shape that is too large");
    fault_unless((row_bytes == 0) == (rows == 0), "a shape with one extent of 0");
    fault_unless(i < 8 || rows == 0, "more than 8 registers");
    if (i < 8) emulated_registers()[static_cast<size_t>(i)] = {rows, row_bytes, {}};
  }
}

inline void _tile_zero(int number) { configured(number).words = {}; }

inline void _tile_loadd(int to, const void* from, int64_t stride) {
  EmulatedRegister& it = configured(to);
  it.words = {};
  for (int i = 0; i < it.rows; ++i)
    std::memcpy(it.words[static_cast<size_t>(i)].data(), static_cast<const char*>(from) + i * stride,
                static_cast<size_t>(it.row_bytes));
}

inline void _tile_stored(int from, void* to, int64_t stride) {
  const EmulatedRegister& it = configured(from);
  for (int i = 0; i < it.rows; ++i)
    std::memcpy(static_cast<char*>(to) + i * stride, it.words[static_cast<size_t>(i)].data(),
                static_cast<size_t>(it.row_bytes));
}

inline float bits_to_float(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
/// Numbers below 2^-126 are 0, as operands and as results.
inline float without_subnormals(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
inline float multiply_add(uint32_t upper_half_a, uint32_t upper_half_b, float sum) {
  const float a = without_subnormals(bits_to_float(upper_half_a & 0xffff0000));
  const float b = without_subnormals(bits_to_float(upper_half_b & 0xffff0000));
  return without_subnormals(std::fma(a, b, sum));
}

/// sums += left * right. The lower halves of the words have a sum of their own, as have the upper ones; then
/// both are added, then they are added to what was there.
inline void _tile_dpbf16ps(int sums, int left, int right) {
  EmulatedRegister& c = configured(sums);
  const EmulatedRegister &a = configured(left), &b = configured(right);
  fault_unless(sums != left && sums != right && left != right, "one register in two places");
  fault_unless(c.rows == a.rows && c.row_bytes == b.row_bytes && a.columns() == b.rows, "shapes do not fit");
  for (size_t i = 0; i < static_cast<size_t>(c.rows); ++i)
    for (size_t j = 0; j < static_cast<size_t>(c.columns()); ++j) {
      float lower = 0, upper = 0;
      for (size_t k = 0; k < static_cast<size_t>(b.rows); ++k) {
        lower = multiply_add(a.words[i][k] << 16, b.words[k][j] << 16, lower);
        upper = multiply_add(a.words[i][k], b.words[k][j], upper);
      }
      const float before = without_subnormals(bits_to_float(c.words[i][j]));
      const float sum = without_subnormals(before + without_subnormals(lower + upper));
      std::memcpy(&c.words[i][j], &sum, sizeof sum);
    }
}

}  // namespace
}  // namespace rondo
