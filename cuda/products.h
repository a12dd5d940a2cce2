// Matrix products on the GPU, by cuBLASLt. Like cuda/runtime.h it uses no type of CUDA. Who calls it:
// tensor/products/gemm.cpp. Next: cuda/products.cu.
#pragma once

#include <cstdint>

#include "cuda/precision.h"

namespace rondo::cuda {

/// The workspace of cuBLASLt, allocated at the first product and kept; the size is NVIDIA's recommendation
/// for Hopper.
constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;
/// Allocates it now: nothing can be allocated while a graph is recorded.
void prepare_products();

/// Sets the precision of all later products of the GPU; it is fp32 before the first call. set_precision()
/// (tensor/products/precision.h) calls it.
void set_product_precision(Precision precision);

/// A number rounded to bfloat16: the upper half of a float.
enum class Bf16 : std::uint16_t {};

/// A row-major matrix with rows `row_stride` numbers apart, or its transpose; or the first of a batch, whose
/// matrices are `step` numbers apart.
template <class Number>
struct Matrix {
  Number* data;
  int row_stride;
  bool transposed = false;
  std::int64_t step = 0;
};

/// The extents after transposition, none of which is 0, of each of `count` products.
struct ProductSize {
  int m, n, k;
  int count = 1;
};

/// c [m, n] = start + a [m, k] b [k, n] for each of a batch. `start` is a matrix like c, not transposed,
/// which may be c itself; a row, which is added to each row of c (row_stride 0); or nothing (null). Throws
/// Error if cuBLASLt cannot compute it. The same product on the same GPU gives the same bits each time.
void gemm(const ProductSize& size, Matrix<const float> a, Matrix<const float> b, Matrix<const float> start,
          Matrix<float> c);
void gemm(const ProductSize& size, Matrix<const double> a, Matrix<const double> b, Matrix<const double> start,
          Matrix<double> c);
void gemm(const ProductSize& size, Matrix<const Bf16> a, Matrix<const Bf16> b, Matrix<const float> start,
          Matrix<float> c);

}  // namespace rondo::cuda
