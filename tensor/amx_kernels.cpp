// The inner loops of the packed product for Intel AMX. TDPBF16PS multiplies a tile register of 16 rows of 16
// words, pairs of bf16, by one of 16 x 16 words, and adds to 16 x 16 sums; subnormal numbers count as 0.
// It adds up 16 words before it adds them to a sum: other bits than those of VDPBF16PS. Intel 64 and IA-32
// Architectures Software Developer's Manual: volume 1, "Programming with Intel AMX"; volume 2, LDTILECFG and
// TDPBF16PS. Compiled with flags of its own, and for the tests over tests/tensor/emulated_amx.h.
#include "tensor/tile_kernels.h"

#ifdef RONDO_AMX_INTRINSICS
#include RONDO_AMX_INTRINSICS
#else
#include <immintrin.h>
#endif

namespace rondo {
namespace {

/// Rows of a tile register, and words or sums of a row.
constexpr int size = 16;
constexpr int most_rows = 2 * size, width = 2 * size;
/// The right side is a whole panel wide, however narrow the tile of c.
constexpr int64_t panel_stride = width * sizeof(real);

// Registers: 0 1 are the upper sums, 2 3 the lower ones; 4 and 5 the left side's upper and lower rows, 6 and
// 7 the right side's left and right columns. A tile of up to 16 rows uses no lower registers, one of up
// to 16 columns no right ones. g++ accepts only literals as the intrinsics' registers.

/// What LDTILECFG reads.
struct alignas(64) Shapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(int tile, int64_t its_rows, int64_t columns) {
    if (its_rows == 0 || columns == 0) return;  // not used
    rows[tile] = static_cast<uint8_t>(its_rows);
    row_bytes[tile] = static_cast<uint16_t>(columns * 4);
  }
};

/// The first or the second 16 of so many.
int64_t part(int64_t count, int which) {
  const int64_t left = count - which * size;
  return left < 0 ? 0 : left > size ? size : left;
}

/// Configures the registers, all zero, for `rows` x `columns` sums and so many words.
void configure(int64_t rows, int64_t columns, int64_t words) {
  Shapes shapes;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) shapes.set(2 * i + j, part(rows, i), part(columns, j));
    shapes.set(4 + i, part(rows, i), words);
    shapes.set(6 + i, words, part(columns, i));
  }
  __asm__ volatile("" : : "r"(&shapes) : "memory");  // g++ 12 says that the intrinsic reads only 8 bytes
  _tile_loadconfig(&shapes);
}

/// c = start + the products of `steps` times `words` words.
void add_products(const Tile& it, int64_t steps, int64_t words) {
  const bool lower = it.rows > size, right = it.columns > size;
  configure(it.rows, it.columns, words);
  if (const real* from = it.start.data) {
    const int64_t stride = it.start.row_stride * static_cast<int64_t>(sizeof(real));
    const real* const below = from + size * it.start.row_stride;
    _tile_loadd(0, from, stride);
    if (right) _tile_loadd(1, from + size, stride);
    if (lower) _tile_loadd(2, below, stride);
    if (lower && right) _tile_loadd(3, below + size, stride);
  }
  const int64_t left_stride = it.a_stride * static_cast<int64_t>(sizeof(real));
  for (int64_t step = 0; step < steps; ++step) {
    const real *const a = it.a + step * words, *const b = it.panel + step * words * width;
    _tile_loadd(6, b, panel_stride);
    _tile_loadd(4, a, left_stride);
    _tile_dpbf16ps(0, 4, 6);
    if (lower) {
      _tile_loadd(5, a + size * it.a_stride, left_stride);
      _tile_dpbf16ps(2, 5, 6);
    }
    if (right) {
      _tile_loadd(7, b + size, panel_stride);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (lower && right) _tile_dpbf16ps(3, 5, 7);
  }
  const int64_t stride = it.c.row_stride * static_cast<int64_t>(sizeof(real));
  real* const below = it.c.data + size * it.c.row_stride;
  _tile_stored(0, it.c.data, stride);
  if (right) _tile_stored(1, it.c.data + size, stride);
  if (lower) _tile_stored(2, below, stride);
  if (lower && right) _tile_stored(3, below + size, stride);
}

/// The words that do not fill a register are a second pass, because a new configuration clears the sums.
void run_tile(const Tile& it) {
  const int64_t steps = it.words / size, whole = steps * size;
  if (steps > 0 || it.words == 0) add_products(it, steps, size);
  if (whole < it.words) {
    Tile rest = it;
    rest.a += whole;
    rest.panel += whole * width;
    if (steps > 0) rest.start = it.c;
    add_products(rest, 1, it.words - whole);
  }
  // Else the system would save 8 KB of registers whenever it interrupts the thread.
  _tile_release();
}

real multiply_in_registers(int64_t rounds, const real* factor, const real*) {
  configure(most_rows, width, size);
  for (int64_t round = 0; round < rounds; round += size) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return *factor;
}

}  // namespace

extern constexpr TileKernels RONDO_TILE_KERNELS = {
    "AMX BF16", Word::pair, most_rows, width, LeftSide::rows, run_tile, multiply_in_registers};

}  // namespace rondo
