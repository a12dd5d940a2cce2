// The inner loops of the packed product (tensor/products/packed_gemm.h), for each instruction set that a
// program carries: tensor/products/tile_kernels.cpp is compiled with the library's flags, and on x86-64 again
// for newer CPUs (CMakeLists.txt), tensor/products/amx_kernels.cpp for those with AMX;
// tensor/products/precision.cpp chooses at run time. Only simple types here, and no inline functions of other
// headers: the linker might keep the copy that only newer CPUs can run.
#pragma once

#include "tensor/backend.h"

namespace rondo {

/// What operands consist of: numbers or, in the same 32 bits, two terms rounded to bfloat16, the earlier one
/// in the upper half, or four in int8, the earliest in the lowest byte. Pairs and quads are kept as the bits
/// of a float that is only loaded and stored.
enum class Word { number, pair, quad };

/// Words before the quads of a row or a column: its scale and, of a row of the left side, -128 times the sum
/// of its terms (tensor/products/int8_kernels.cpp).
constexpr int64_t int8_header = 2;
/// The sum of more products may not fit into 32 bits.
constexpr int64_t most_int8_terms = int64_t{1} << 17;

/// One tile of c over a block of terms. The last register of a row may be filled only in part.
struct Tile {
  int64_t rows, columns, words;
  const real* a;  // word k of row i: a[i * a_stride + k]; transposed: a[k * a_stride + i]
  int64_t a_stride;
  bool transposed;
  const real* panel;  // the words k of all columns begin at panel[k * width]
  Operand start, c;   // start.data null: zero
  // What kernels fetch into the caches meanwhile, if they gain by it: the next tile of c, as if it had the
  // size of this one, and a part of the next panel from `ahead` on, `ahead_step` numbers with each word.
  const real *next_c, *ahead;
  int64_t ahead_step;
};
using RunTile = void (*)(const Tile&);

/// Which layouts of the left side kernels can read: rows only, or also transposed.
enum class LeftSide { rows, any };

struct TileKernels {
  const char* name;
  Word word;
  int rows, width;  // of the largest tile; a panel has this width
  /// Words are padded with zeros to a multiple of it. The heights of tiles are multiples of it, except for
  /// the last tile of a product.
  int step;
  /// Most words of a block of terms, a multiple of `step`. In longer blocks sums are loaded and stored less
  /// often; in too long ones what a tile reads leaves the caches before the next tile reads it again.
  int block_words;
  LeftSide left_side;
  RunTile run;
  void (*release)();  // what a thread calls after its last tile
  /// The same instructions with all operands in registers, to measure the peak: `rounds` times the
  /// multiplications of one word of a tile of full size. *factor and the register at `weights` are zeros.
  /// Null of quads.
  real (*multiply_in_registers)(int64_t rounds, const real* factor, const real* weights);

  int64_t terms_of_word() const { return word == Word::quad ? 4 : word == Word::pair ? 2 : 1; }
  /// Of so many terms, with the padding and, of quads, the header.
  int64_t words(int64_t terms) const {
    const int64_t terms_of_step = step * terms_of_word();
    return (terms + terms_of_step - 1) / terms_of_step * step + (word == Word::quad ? int8_header : 0);
  }
};

/// Rows that packing fetches ahead: the CPU itself does not foresee strides of more than a page.
constexpr int64_t packing_rows_ahead = 8;

/// Rounds to nearest even and fills words with pairs of bf16; numbers below 2^-126 become 0, NaN stays NaN.
struct PairKernels {
  /// to[j]: the pair of from[2 * j] and from[2 * j + 1].
  void (*in_sequence)(const real* from, int64_t count, real* to);
  /// to[w * to_stride + j]: the pair of from[2 * w * stride + j] and from[(2 * w + 1) * stride + j].
  void (*side_by_side)(const real* from, int64_t stride, int64_t words, int64_t count, real* to,
                       int64_t to_stride);
};

extern const TileKernels kernels_as_compiled, kernels_of_int8;
#ifdef RONDO_X86_KERNELS
extern const PairKernels pair_kernels_of_avx512_bf16;
extern const TileKernels kernels_of_avx2, kernels_of_avx512, kernels_of_avx512_bf16, kernels_of_amx;
extern const TileKernels kernels_of_int8_avx2, kernels_of_int8_vnni;
#endif

}  // namespace rondo
