// Matrix products over packed operands: ours, beside BLAS. The right side is copied ("packed") into the order
// in which the kernel reads it. BLAS does that at each call, which at 20 rows costs more than the product; a
// weight that is used again before it changes (every time step of a chunk, every symbol of a generated text)
// is packed here once, and again only after it was written. CPU only. tensor/gemm.cpp decides what runs here
// and what over BLAS; besides it only the benchmark calls this.
#pragma once

#include "tensor/gemm.h"

namespace rondo {

/// Whether b is packed for this product alone, or its storage keeps the packed copy until it is written.
enum class Packing { once, kept };

/// c = start + op(a) op(b); op transposes or not. `start` is a matrix like c (or c itself), one row that is
/// repeated (row stride 0), or null for zero. Shapes are checked by the caller. An element's value depends
/// neither on the number of rows nor on the number of threads.
void packed_gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                 Packing packing, Operand start, const Tensor& c);

}  // namespace rondo
