// OpenBLAS: its product, its choice of kernels and its memory. A library that is linked without it, as for
// inference alone, has lm/inference/alone/no_blas.cpp in place of blas.cpp; all products are then our own.
//
// OpenBLAS reserves a buffer for each of its threads before main(), and one for each thread that computes a
// product; if the system refuses, it retries for ever. So OpenBLAS starts with one thread, and where the
// address space is limited (ulimit -v) we reserve its buffers while they fit, or report an error.
#pragma once

#include <string>

#include "tensor/products/gemm.h"

namespace rondo {

/// Whether this program was linked with OpenBLAS.
bool has_blas();

/// A matrix whose rows are `stride` numbers apart.
template <class Number>
struct BlasMatrix {
  Number* data;
  int64_t stride;
  Transpose transpose = Transpose::no;
};
/// c = a b, or with `add` c + a b, on the calling thread; c has m rows and n columns, a has k columns. a and
/// b are transposed first, if they say so.
void blas_product(int64_t m, int64_t n, int64_t k, const BlasMatrix<const real>& a,
                  const BlasMatrix<const real>& b, bool add, const BlasMatrix<real>& c);

/// Call before this many threads compute products; free if called before. Throws Error if their buffers do
/// not fit.
void take_blas_buffers(int threads);

}  // namespace rondo
