// In place of tensor/products/blas.cpp: no OpenBLAS, so that all products are our own.
#include "tensor/error.h"
#include "tensor/products/blas.h"

namespace rondo {

bool has_blas() { return false; }

void blas_product(int64_t, int64_t, int64_t, const BlasMatrix<const real>&, const BlasMatrix<const real>&,
                  bool, const BlasMatrix<real>&) {
  throw Error("[gemm] a product by OpenBLAS in a program without it");
}

std::string blas_kernel() { return "none"; }

void take_blas_buffers(int) {}

}  // namespace rondo
