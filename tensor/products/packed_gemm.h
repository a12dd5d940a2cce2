// Our own matrix product over packed operands. The right side is copied ("packed") into the order in which
// the kernel reads it. BLAS packs at each call, which at 20 rows costs more than the product. Here a weight
// that is used again before it changes (at every time step of a chunk, every symbol of a generated text) is
// packed once, and again only after it was written. CPU only. tensor/products/gemm.cpp chooses between this
// and BLAS; otherwise only the benchmark calls it.
#pragma once

#include "tensor/products/packing.h"

namespace rondo {

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
