// The inner loops of the packed product for Intel AMX. TDPBF16PS multiplies a tile register of 16 rows of 16
// words, pairs of bf16, by one of 16 x 16 words, and adds to 16 x 16 sums; subnormal numbers count as 0.
// It adds up 16 words before it adds them to a sum: other bits than those of VDPBF16PS. Intel 64 and IA-32
// Architectures Software Developer's Manual: volume 1, "Programming with Intel AMX"; volume 2, LDTILECFG and
// TDPBF16PS. Compiled with flags of its own, and for the tests over tests/tensor/emulated_amx.h.
#include "tensor/products/tile_kernels.h"

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
/// Of 256 rows, the words and the sums then fit into an L2 cache of 2 MiB. The inner loops alone at
/// 2800 x 700 x 3200, two threads: 6.2 ms with blocks of 176 words, 5.0 with 400, 4.8 with 544.
constexpr int block_words = 576;
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

/// The shape of the tile that this thread's registers are configured for; 0 x 0: for none.
thread_local int64_t rows_now = 0, columns_now = 0;

/// A configuration takes as long as several steps, so it is kept from tile to tile of one shape.
void configure(int64_t rows, int64_t columns) {
  if (rows == rows_now && columns == columns_now) return;
  Shapes shapes;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) shapes.set(2 * i + j, part(rows, i), part(columns, j));
    shapes.set(4 + i, part(rows, i), size);
    shapes.set(6 + i, size, part(columns, i));
  }
  __asm__ volatile("" : : "r"(&shapes) : "memory");  // g++ 12 says that the intrinsic reads only 8 bytes
  _tile_loadconfig(&shapes);
  rows_now = rows;
  columns_now = columns;
}

/// Without it the system would save 8 KB of registers whenever it interrupts the thread.
void release() {
  if (rows_now > 0) _tile_release();
  rows_now = columns_now = 0;
}

/// Into the caches, while the word at `b` is multiplied, because each row of a tile register that the caches
/// lack makes the products wait. Of the right side, if this is the only tile of its panel, what is multiplied
/// two steps later, else a part of the next panel; and of the next tile of c as many rows as the step is a
/// part of the words. The inner loops alone at 2800 x 700 x 3200, two threads: 8.8 ms without, 6.5 with the
/// rows of c, 6.2 with both.
void fetch_ahead(const Tile& it, int64_t word, const real* b) {
  constexpr int64_t line = 64 / sizeof(real), steps_ahead = 2 * size;
  __asm__ volatile("");  // g++ would remove the call of a function that only fetches
  const bool only_tile = it.ahead_step == width;
  const int64_t left = it.words - word - steps_ahead;
  const real* const next = !only_tile ? it.ahead + word * it.ahead_step
                           : left > 0 ? b + steps_ahead * width
                                      : it.ahead - left * width;
  for (int64_t i = 0; i < size * it.ahead_step; i += line)
    only_tile ? __builtin_prefetch(next + i) : __builtin_prefetch(next + i, 0, 2);
  for (int64_t row = it.rows * word / it.words; row < it.rows * (word + size) / it.words; ++row) {
    const real* const c = it.next_c + row * it.c.row_stride;
    for (int64_t j = 0; j < width; j += line) __builtin_prefetch(c + j, 1);
    __builtin_prefetch(c + width - 1, 1);  // a row may lie in three lines
  }
}

/// c = start + the products of it.words words, a multiple of 16.
template <bool lower, bool right>
void add_products(const Tile& it) {
  constexpr int64_t bytes = sizeof(real);
  if (const real* from = it.start.data) {
    const int64_t stride = it.start.row_stride * bytes;
    [[maybe_unused]] const real* const below = from + size * it.start.row_stride;
    _tile_loadd(0, from, stride);
    if constexpr (right) _tile_loadd(1, from + size, stride);
    if constexpr (lower) _tile_loadd(2, below, stride);
    if constexpr (lower && right) _tile_loadd(3, below + size, stride);
  } else {
    _tile_zero(0);
    if constexpr (right) _tile_zero(1);
    if constexpr (lower) _tile_zero(2);
    if constexpr (lower && right) _tile_zero(3);
  }
  const int64_t left_stride = it.a_stride * bytes;
  const real *a = it.a, *b = it.panel;
  for (int64_t word = 0; word < it.words; word += size, a += size, b += size * width) {
    fetch_ahead(it, word, b);
    _tile_loadd(6, b, panel_stride);
    _tile_loadd(4, a, left_stride);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (lower) {
      _tile_loadd(5, a + size * it.a_stride, left_stride);
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (right) {
      _tile_loadd(7, b + size, panel_stride);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (lower && right) _tile_dpbf16ps(3, 5, 7);
  }
  const int64_t stride = it.c.row_stride * bytes;
  [[maybe_unused]] real* const below = it.c.data + size * it.c.row_stride;
  _tile_stored(0, it.c.data, stride);
  if constexpr (right) _tile_stored(1, it.c.data + size, stride);
  if constexpr (lower) _tile_stored(2, below, stride);
  if constexpr (lower && right) _tile_stored(3, below + size, stride);
}

void run_tile(const Tile& it) {
  configure(it.rows, it.columns);
  const bool lower = it.rows > size, right = it.columns > size;
  if (lower) return right ? add_products<true, true>(it) : add_products<true, false>(it);
  right ? add_products<false, true>(it) : add_products<false, false>(it);
}

real multiply_in_registers(int64_t rounds, const real* factor, const real*) {
  configure(most_rows, width);
  for (int64_t round = 0; round < rounds; round += size) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  release();
  return *factor;
}

}  // namespace

extern constexpr TileKernels RONDO_TILE_KERNELS = {"AMX BF16", Word::pair,           most_rows,      width,
                                                   size,       block_words,          LeftSide::rows, run_tile,
                                                   release,    multiply_in_registers};

}  // namespace rondo
