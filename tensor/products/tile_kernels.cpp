// The inner loops of the packed product. A tile of c, as many rows as the registers hold, stays in registers
// while a panel of the right side is read (Goto & van de Geijn 2008).
#include "tensor/products/tile_kernels.h"

#include <utility>

#include "tensor/simd/vec.h"

#ifndef RONDO_TILE_KERNELS  // what CMakeLists.txt calls the kernels that it compiles with flags of their own
#define RONDO_TILE_KERNELS kernels_as_compiled
#endif
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace rondo {
namespace {

/// Rows of a tile: its sums, one row of the panel and a factor fill the registers (32 with AVX-512 and NEON,
/// else 16).
#if defined(__AVX512F__) || defined(__ARM_NEON)
constexpr int tile_rows = 14;
#else
constexpr int tile_rows = 6;
#endif
constexpr int panel_registers = 2, width = panel_registers * Vec::size;

#ifdef RONDO_PAIRS_OF_BF16
/// VDPBF16PS adds the product of the upper halves, then that of the lower ones, each sum rounded to nearest.
/// Numbers of a magnitude below 2^-126 count as 0, in operands and in sums.
constexpr Word word = Word::pair;
using Weights = __m512bh;
HD Weights load_weights(const real* from) { return reinterpret_cast<Weights>(_mm512_loadu_si512(from)); }
HD Vec add_product(Vec sum, const real* factor, Weights w) {
  int pair;
  __builtin_memcpy(&pair, factor, sizeof pair);
  return Vec(
      Vec::Lanes(_mm512_dpbf16_ps(__m512(sum.lanes), reinterpret_cast<Weights>(_mm512_set1_epi32(pair)), w)));
}
#else
constexpr Word word = Word::number;
using Weights = Vec;
HD Weights load_weights(const real* from) { return Vec::load(from); }
/// Rounded once, as by VDPBF16PS, by any compiler: where products of numbers rounded to bfloat16 are below
/// 2^-126, a product that is rounded by itself is lost.
HD Vec add_product(Vec sum, const real* factor, Weights w) {
#if defined(__AVX512F__) && !defined(RONDO_DOUBLE)
  return Vec(Vec::Lanes(_mm512_fmadd_ps(__m512(Vec(*factor).lanes), __m512(w.lanes), __m512(sum.lanes))));
#elif defined(__AVX2__) && defined(__FMA__) && !defined(RONDO_DOUBLE)
  return Vec(Vec::Lanes(_mm256_fmadd_ps(__m256(Vec(*factor).lanes), __m256(w.lanes), __m256(sum.lanes))));
#else
  return sum + Vec(*factor) * w;
#endif
}
#endif

template <int rows, int registers, bool transposed>
void run_tile_of(const Tile& it) {
  Vec sums[rows][registers];
  const auto count = [&](int v) {
    const int64_t left = it.columns - v * Vec::size;
    return left < Vec::size ? left : Vec::size;
  };
  const auto load = [&](const real* from, int v) {
    return count(v) == Vec::size ? Vec::load(from) : Vec::load(from, count(v));
  };
  // The next tile's rows of c are then in the cache when they are loaded and stored.
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < registers; ++v)
      __builtin_prefetch(it.next_c + i * it.c.row_stride + v * Vec::size, 1);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < registers; ++v)
      sums[i][v] =
          it.start.data ? load(it.start.data + i * it.start.row_stride + v * Vec::size, v) : Vec(real(0));
  const real* factors = it.a;
  const real* weights = it.panel;
  const real* ahead = it.ahead;
  for (int64_t k = 0; k < it.words; ++k, factors += transposed ? it.a_stride : 1, weights += width) {
    Weights w[registers];
    // Into the L2 cache, spread over all tiles of a panel: its first tile alone would wait for memory.
    // In a training, 32 x 700 x 2800 on a Xeon with two threads: 279 GFLOP/s without, 324 with it and with
    // blocks of 1024 words in place of 384.
    __builtin_prefetch(ahead, 0, 2);
    ahead += it.ahead_step;
#pragma GCC unroll 2
    for (int v = 0; v < registers; ++v) {
      w[v] = load_weights(weights + v * Vec::size);
      // Measured at 20 x 4600 x 1150, in GFLOP/s: 82 without; 92, 95, 100 at 8, 16, 32 words ahead; 64: no
      // gain.
      __builtin_prefetch(weights + 32 * width + v * Vec::size);
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < registers; ++v)
        sums[i][v] = add_product(sums[i][v], factors + (transposed ? i : i * it.a_stride), w[v]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < registers; ++v) {
      real* to = it.c.data + i * it.c.row_stride + v * Vec::size;
      count(v) == Vec::size ? sums[i][v].store(to) : sums[i][v].store(to, count(v));
    }
}

/// [transposed][registers - 1][rows - 1]
struct AllSizes {
  RunTile run[2][panel_registers][tile_rows];
};
template <int... i>
constexpr AllSizes all_sizes(std::integer_sequence<int, i...>) {
  return {{{{run_tile_of<i + 1, 1, false>...}, {run_tile_of<i + 1, 2, false>...}},
           {{run_tile_of<i + 1, 1, true>...}, {run_tile_of<i + 1, 2, true>...}}}};
}
void run_tile(const Tile& it) {
  static constexpr AllSizes all = all_sizes(std::make_integer_sequence<int, tile_rows>());
  all.run[it.transposed][it.columns > Vec::size][it.rows - 1](it);
}

void release() {}

real multiply_in_registers(int64_t rounds, const real* factor, const real* weights) {
  Vec sums[tile_rows][panel_registers];
  const Weights w = load_weights(weights);
  for (auto& row : sums)
    for (Vec& sum : row) sum = Vec(real(0));
  for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 16
    for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < panel_registers; ++v) sums[i][v] = add_product(sums[i][v], factor, w);
  Vec total(real(0));
  for (const auto& row : sums)
    for (const Vec& sum : row) total = total + sum;
  return total.lanes[0];
}

#ifdef RONDO_PAIRS_OF_BF16
/// Sixteen words' 32 numbers: VCVTNE2PS2BF16 rounds two registers, the first into the lower half.
__m512i rounded(__m512 lower, __m512 upper) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(upper, lower));
}
__mmask16 lanes(int64_t count) { return static_cast<__mmask16>(count < 16 ? (1 << count) - 1 : 0xffff); }

void pairs_in_sequence(const real* from, int64_t count, real* to) {
  // What another thread has written comes from its core's cache: the product of h, 32 x 2800 x 700 in a
  // training on a Zen 4, takes 97 % of the time that it takes without.
  constexpr int64_t numbers_ahead = 256;
  for (int64_t j = 0; j < count; j += 16) {
    const real* const pair = from + 2 * j;
    __builtin_prefetch(pair + numbers_ahead);
    __builtin_prefetch(pair + numbers_ahead + 16);
    const __mmask32 numbers = count - j < 16 ? (1u << 2 * (count - j)) - 1 : ~0u;
    const __m512i pairs = rounded(_mm512_maskz_loadu_ps(static_cast<__mmask16>(numbers), pair),
                                  _mm512_maskz_loadu_ps(static_cast<__mmask16>(numbers >> 16), pair + 16));
    _mm512_mask_storeu_epi32(to + j, lanes(count - j), _mm512_maskz_rol_epi32(0xffff, pairs, 16));
  }
}

void pairs_side_by_side(const real* from, int64_t stride, int64_t words, int64_t count, real* to,
                        int64_t to_stride) {
  // Number j of the second row, below number j of the first.
  alignas(64) static constexpr uint16_t places[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                      21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                      11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i interleave = _mm512_load_si512(places);
  for (int64_t w = 0; w < words; ++w, from += 2 * stride, to += to_stride)
    for (int64_t j = 0; j < count; j += 16) {
      const real *const first = from + j, *const second = first + stride;
      __builtin_prefetch(first + packing_rows_ahead * stride);
      __builtin_prefetch(second + packing_rows_ahead * stride);
      const __mmask16 mask = lanes(count - j);
      const __m512i halves = rounded(_mm512_maskz_loadu_ps(mask, second), _mm512_maskz_loadu_ps(mask, first));
      _mm512_mask_storeu_epi32(to + j, mask, _mm512_permutexvar_epi16(interleave, halves));
    }
}
#endif

constexpr const char* name() {
#if defined(RONDO_PAIRS_OF_BF16)
  return "AVX-512 BF16";
#elif defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__ARM_NEON)
  return "NEON";
#else
  return "SIMD";
#endif
}

}  // namespace

constexpr TileKernels RONDO_TILE_KERNELS = {name(), word,          tile_rows, width,   1,
                                            1024,   LeftSide::any, run_tile,  release, multiply_in_registers};
#ifdef RONDO_PAIRS_OF_BF16
constexpr PairKernels pair_kernels_of_avx512_bf16 = {pairs_in_sequence, pairs_side_by_side};
#endif

}  // namespace rondo
