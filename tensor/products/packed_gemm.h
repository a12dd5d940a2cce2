// Our own matrix product over packed operands. The right side is copied ("packed") into the order in which
// the kernel reads it. BLAS packs at each call, which at 20 rows costs more than the product. Here a weight
// that is used again before it changes (at every time step of a chunk, every symbol of a generated text) is
// packed once, and again only after it was written. CPU only. tensor/products/gemm.cpp chooses between this
// and BLAS; otherwise only the benchmark calls it.
#pragma once

#include <algorithm>

#include "tensor/products/gemm.h"
#include "tensor/products/precision.h"

namespace rondo {

// --- Packing ---
// How the operands lie in memory.
//
// op(b) [inner, columns] is cut into blocks of inner terms, and each block into panels of two registers'
// width, stored [words][width] one after the other, in the order in which the kernel reads them. A word is
// one term or a pair of terms in bfloat16 (tensor/products/tile_kernels.h). The left side is copied only if
// it must be converted, or if it is faster to read then.

/// The layout of a packed op(b) [inner, columns].
struct PanelLayout {
  int64_t inner, columns;
  const TileKernels* kernels;

  PanelLayout(const Tensor& b, Transpose transpose, const TileKernels& of)
      : inner(transpose == Transpose::yes ? b.columns() : b.rows()),
        columns(transpose == Transpose::yes ? b.rows() : b.columns()),
        kernels(&of) {}

  int64_t width() const { return kernels->width; }
  /// As few blocks as possible, of equal length but for the last.
  int64_t blocks() const { return (kernels->words(inner) + kernels->block_words - 1) / kernels->block_words; }
  int64_t block_words() const {
    const int64_t steps = kernels->words(inner) / kernels->step, count = std::max<int64_t>(blocks(), 1);
    return (steps + count - 1) / count * kernels->step;
  }
  int64_t block_terms() const { return block_words() * kernels->terms_of_word(); }
  int64_t panels() const { return (columns + width() - 1) / width(); }
  int64_t size() const { return panels() * kernels->words(inner) * width(); }
  int64_t terms(int64_t block) const { return std::min(block_terms(), inner - block * block_terms()); }
  int64_t words(int64_t block) const { return kernels->words(terms(block)); }
  int64_t place(int64_t block, int64_t panel) const {
    return (block * block_words() * panels() + panel * words(block)) * width();
  }
};

/// Whether a copy of b is made for one product only, or its storage keeps the copy until b is written.
enum class Packing { once, kept };

/// Packs op(b) to layout.size() numbers; of quads only with Transpose::yes, because each row has a scale.
void pack(const Tensor& b, Transpose transpose, const Multiplication& multiplication, real* to);
/// The packed op(b).
struct Panels {
  Tensor numbers;
  bool backwards;  // the last panel is read first: every second time that they are read, if they are kept
};
Panels packed(const Tensor& b, Transpose transpose, const Multiplication& multiplication, Packing packing);

/// A matrix rounded to bfloat16, as a GPU multiplies it: rows of 16-bit numbers in `memory`.
struct Bf16Rows {
  Tensor memory;
  const uint16_t* data;
  int64_t row_stride;
  int64_t padded_columns;  // behind its own columns are zeros up to here
};
/// Returns x, on its GPU, rounded. It is in the twin of its memory if that has one, and a pass rounds it
/// there only if nothing did so since it was written.
///
/// A twin is a copy of a whole memory, so that the product of all time steps finds side by side what each
/// step has rounded. In a step (StepMemory) all memory that was made in it can have one; what outlives it
/// cannot, because recorded graphs write that, too, and tell no twin. Elsewhere memory has one that was made
/// for products.
Bf16Rows bf16_rows(const Tensor& x, Packing packing);
/// For a kernel that writes all of x, for products that read it: if they round and x can have a twin, the
/// kernel writes that, too.
Operand write_operand_with_twin(const Tensor& x);

/// Rows of the left side, or of a block of its terms.
struct LeftRows {
  Operand a;
  bool transposed;  // term k of row i is a.data[k * a.row_stride + i]
};
/// Numbers that packed_left() needs for so many rows of a block of the layout.
int64_t room_for_left(int64_t rows, const PanelLayout& layout);
/// The words of `rows` rows of a block, `terms` terms each, written to `room` with a stride that does not
/// clash: transposed if `from` is and the kernels can read it. Of quads only what is not transposed.
LeftRows packed_left(const LeftRows& from, int64_t rows, int64_t terms, const Multiplication& multiplication,
                     real* room);

// --- Product ---

/// c = start + op(a) op(b); op transposes or not. `start` is a matrix like c (or c itself), one row that is
/// repeated (row stride 0), or null for zero. The caller checks shapes, and that quads multiply only x W^T,
/// of up to most_int8_terms terms. The value of an element depends neither on the number of rows nor on the
/// number of threads.
void packed_gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                 Packing packing, Operand start, const Tensor& c,
                 const Multiplication& by = multiplication());

/// The same for each matrix of a batch, [N, rows, columns] all three; c = op(a) op(b), or added to c. Each
/// thread computes whole matrices, so that small ones are shared, too.
void packed_batched_gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                         bool add, const Tensor& c);

}  // namespace rondo
