// Products of few rows with a weight that is used again before it changes: every time step of a chunk, every
// symbol of a generated text. BLAS copies ("packs") the weight into its own order at each call, which at 20
// rows costs more than the product; here the weight is packed once, and again only after it was written.
// CPU only, and called from one place: weight_gemm() in tensor/gemm.cpp, which also decides when.
#pragma once

#include "tensor/gemm.h"

namespace rondo {

/// Whether a product of this many rows is faster packed than by BLAS. Measured, see `make bench`.
bool packing_pays(int64_t rows);

/// c = start + x op(W) with packed W; op transposes or not. `start` is a matrix like c (or c itself), one row
/// that is repeated (row stride 0), or null for zero. Shapes are checked by the caller. An element's value
/// depends neither on the number of rows nor on the number of threads.
void packed_gemm(const Tensor& x, const Tensor& weight, Transpose transpose, Operand start, const Tensor& c);

}  // namespace rondo
