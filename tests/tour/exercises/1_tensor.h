// Exercises of docs/tour/1_tensor.md.
#pragma once

#include "tensor/tensor.h"

namespace rondo::tour {

/// 1.1: C = A B by three loops over data(), A [M, K], B [K, N], C [M, N]. Any of them may be a part of a
/// wider matrix.
inline void multiply(const Tensor& a, const Tensor& b, const Tensor& c) {
  throw Error("exercise 1.1 is not written yet");
}

/// 1.2: sets columns [begin, end) of x to zero, through a view.
inline void clear_columns(const Tensor& x, int64_t begin, int64_t end) {
  throw Error("exercise 1.2 is not written yet");
}

}  // namespace rondo::tour
