// Matrix products, by OpenBLAS or, where faster, by our own kernel over packed operands; in bf16 only by
// our own. Views with a row stride need no copy. How operands are rounded: tensor/products/precision.h.
// Gradients: autograd/linear.h.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace rondo {

enum class Transpose { no, yes };

/// c = op(a) op(b), as matrices; with `add`, the product is added to c. op transposes or not. Throws Error if
/// the inner or outer sizes differ.
void gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, bool add,
          const Tensor& c);

/// Up to this many rows weight_gemm() keeps the packed copy of a weight; callers that can choose their number
/// of rows choose it.
constexpr int64_t max_rows_over_kept_pack = 256;

/// c = start + x op(W), for a weight W, on a CPU always by our own kernel (tensor/products/packed_gemm.h).
/// For few rows, when packing would cost more than the product, the storage of W keeps the packed copy until
/// W is written. `start` is undefined (zero), shaped like c (or c itself), or a vector [columns] that is
/// repeated for all rows. Throws Error like gemm().
void weight_gemm(const Tensor& x, const Tensor& weight, Transpose transpose, const Tensor& start,
                 const Tensor& c);

/// The same for each matrix of three tensors [N, .., ..]: c[n] = op(a[n]) op(b[n]), or added to c[n].
void batched_gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, bool add,
                  const Tensor& c);

/// The name of the kernels in use, as reported by OpenBLAS ("SkylakeX", "Zen", ...).
std::string blas_kernel();

}  // namespace rondo
