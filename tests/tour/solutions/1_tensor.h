// Solutions of docs/tour/1_tensor.md.
#pragma once

#include "tensor/tensor.h"

namespace rondo::tour {

/// 1.1: C = A B by three loops over data(), A [M, K], B [K, N], C [M, N]. Any of them may be a part of a
/// wider matrix.
inline void multiply(const Tensor& a, const Tensor& b, const Tensor& c) {
  real* to = c.mutable_data();
  for (int64_t i = 0; i < c.rows(); ++i)
    for (int64_t j = 0; j < c.columns(); ++j) {
      real sum = 0;
      for (int64_t k = 0; k < a.columns(); ++k)
        sum += a.data()[i * a.row_stride() + k] * b.data()[k * b.row_stride() + j];
      to[i * c.row_stride() + j] = sum;
    }
}

/// 1.2: sets columns [begin, end) of x to zero, through a view.
inline void clear_columns(const Tensor& x, int64_t begin, int64_t end) {
  fill(x.slice_columns(begin, end), 0);
}

}  // namespace rondo::tour
