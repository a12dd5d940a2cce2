// How the operands of a packed product (tensor/packed_gemm.h) lie in memory.
//
// op(b) [inner, columns] is cut into blocks of inner terms, and each block into panels of two registers'
// width, stored [words][width] one after the other, in the order in which the kernel reads them. A word is
// one term or a pair of terms in bfloat16 (tensor/tile_kernels.h). The left side is copied only if it must be
// converted, or if its rows clash.
#pragma once

#include <algorithm>

#include "tensor/gemm.h"
#include "tensor/precision.h"

namespace rondo {

/// Terms per block: this part of a panel and of a tile's rows fits into the L1 cache.
constexpr int64_t block_terms = 384;

/// The layout of a packed op(b) [inner, columns].
struct Order {
  int64_t inner, columns;
  const TileKernels* kernels;

  Order(const Tensor& b, Transpose transpose, const TileKernels& of)
      : inner(transpose == Transpose::yes ? b.columns() : b.rows()),
        columns(transpose == Transpose::yes ? b.rows() : b.columns()),
        kernels(&of) {}

  int64_t width() const { return kernels->width(); }
  int64_t blocks() const { return (inner + block_terms - 1) / block_terms; }
  int64_t panels() const { return (columns + width() - 1) / width(); }
  int64_t size() const { return panels() * kernels->words(inner) * width(); }
  int64_t terms(int64_t block) const { return std::min(block_terms, inner - block * block_terms); }
  int64_t words(int64_t block) const { return kernels->words(terms(block)); }
  int64_t place(int64_t block, int64_t panel) const {
    return (block * kernels->words(block_terms) * panels() + panel * words(block)) * width();
  }
};

/// The packed op(b), made anew.
Tensor packed(const Tensor& b, Transpose transpose, const Multiplication& multiplication);
/// The packed op(b) that the storage of b keeps, made if there is none or if b was written since.
Tensor kept_panels(const Tensor& b, Transpose transpose, const Multiplication& multiplication);

/// Rows of the left side, or of a block of its terms.
struct LeftRows {
  Operand a;
  bool transposed;  // term k of row i is a.data[k * a.row_stride + i]
};
/// Numbers that packed_left() needs for so many rows of a block.
int64_t room_for_left(int64_t rows, const Multiplication& multiplication);
/// The words of `rows` rows, of at most block_terms terms, written to `room`: laid out as `rows` are, but
/// with a stride that does not clash.
LeftRows packed_left(const LeftRows& from, int64_t rows, int64_t terms, const Multiplication& multiplication,
                     real* room);

}  // namespace rondo
