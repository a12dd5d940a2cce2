// The inner loops of the packed product in int8: quads of terms (tensor/products/tile_kernels.h) multiplied
// and added as integers, so that the order of the sums changes nothing and all instructions give the same.
// The right side holds each term plus 128, because VPDPBUSD multiplies unsigned bytes by signed ones; the
// left side's second word takes what this adds from the sum.
#include "tensor/products/tile_kernels.h"

#ifndef RONDO_DOUBLE

#include <utility>

#include "tensor/simd/vec.h"

#ifndef RONDO_TILE_KERNELS  // as in tensor/products/tile_kernels.cpp
#define RONDO_TILE_KERNELS kernels_of_int8
#define RONDO_PORTABLE_INT8
#else
#include <immintrin.h>
#endif

namespace rondo {
namespace {

constexpr int panel_registers = 2, width = panel_registers * Vec::size;
/// Sums that wrap around: the whole sum fits.
typedef uint32_t Sums __attribute__((vector_size(Vec::bytes)));

// sum + the products of a quad of the left side with those of the right side.
#if defined(RONDO_PORTABLE_INT8)
constexpr const char* name = "portable int8";
constexpr int tile_rows = 4;
HD Sums add_products(Sums sum, uint32_t quad, Sums weights) {
  for (int term = 0; term < 4; ++term)
    sum += (weights >> 8 * term & 255) * static_cast<uint32_t>(static_cast<int8_t>(quad >> 8 * term));
  return sum;
}
#elif defined(__AVX512VNNI__)
constexpr const char* name = "AVX-512 VNNI";
constexpr int tile_rows = 14;
HD Sums add_products(Sums sum, uint32_t quad, Sums weights) {
  return reinterpret_cast<Sums>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                    reinterpret_cast<__m512i>(weights),
                                                    _mm512_set1_epi32(static_cast<int>(quad))));
}
#else
constexpr const char* name = "AVX2, int8";
constexpr int tile_rows = 4;
/// By VPMADDWD of the even and of the odd terms: VPMADDUBSW would saturate.
HD Sums add_products(Sums sum, uint32_t quad, Sums weights) {
  const auto w = reinterpret_cast<__m256i>(weights), a = _mm256_set1_epi32(static_cast<int>(quad));
  const __m256i even = _mm256_madd_epi16(_mm256_and_si256(w, _mm256_set1_epi16(255)),
                                         _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8));
  const __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(w, 8), _mm256_srai_epi16(a, 8));
  return sum + reinterpret_cast<Sums>(even) + reinterpret_cast<Sums>(odd);
}
#endif

uint32_t word_at(const real* from) {
  uint32_t word;
  __builtin_memcpy(&word, from, sizeof word);
  return word;
}

template <int rows, int registers>
void run_tile_of(const Tile& it) {
  constexpr int chains = rows == 1 ? 4 : rows == 2 ? 2 : 1;  // of sums that do not wait for each other
  Sums sums[rows][registers][chains] = {};
  const auto add_word = [&](int64_t k, int chain) {
    const real* const from = it.panel + k * width;
#pragma GCC unroll 2
    for (int v = 0; v < registers; ++v) {
      Sums weights;
      __builtin_memcpy(&weights, from + v * Vec::size, sizeof weights);
      __builtin_prefetch(from + 32 * width + v * Vec::size);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i)
        sums[i][v][chain] = add_products(sums[i][v][chain], word_at(it.a + i * it.a_stride + k), weights);
    }
  };
  int64_t k = int8_header;
  for (; k + chains <= it.words; k += chains)
#pragma GCC unroll 4
    for (int chain = 0; chain < chains; ++chain) add_word(k + chain, chain);
  for (; k < it.words; ++k) add_word(k, 0);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < registers; ++v) {
      const real* const left = it.a + i * it.a_stride;
      Sums sum = sums[i][v][0] + word_at(left + 1);
#pragma GCC unroll 4
      for (int chain = 1; chain < chains; ++chain) sum += sums[i][v][chain];
      const Vec numbers(__builtin_convertvector(reinterpret_cast<Vec::IntegerLanes>(sum), Vec::Lanes));
      const Vec product = numbers * (Vec(left[0]) * Vec::load(it.panel + v * Vec::size));
      const int64_t columns = it.columns - v * Vec::size;
      const int64_t place = i * it.start.row_stride + v * Vec::size;
      const real* const start = it.start.data ? it.start.data + place : nullptr;
      real* const to = it.c.data + i * it.c.row_stride + v * Vec::size;
      if (columns >= Vec::size)
        (start ? Vec::load(start) + product : product).store(to);
      else
        (start ? Vec::load(start, columns) + product : product).store(to, columns);
    }
}

template <int... i>
void run_tile_of_size(const Tile& it, std::integer_sequence<int, i...>) {
  static constexpr RunTile run[][tile_rows] = {{run_tile_of<i + 1, 1>...}, {run_tile_of<i + 1, 2>...}};
  run[it.columns > Vec::size][it.rows - 1](it);
}
void run_tile(const Tile& it) { run_tile_of_size(it, std::make_integer_sequence<int, tile_rows>()); }

}  // namespace

/// One block holds the words of most_int8_terms.
extern constexpr TileKernels RONDO_TILE_KERNELS = {name,    Word::quad,     tile_rows, width, 1,
                                                   1 << 16, LeftSide::rows, run_tile,  [] {}, nullptr};

}  // namespace rondo

#endif
