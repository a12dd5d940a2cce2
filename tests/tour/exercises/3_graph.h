// Exercises of docs/tour/3_graph.md.
#pragma once

#include "autograd/operators.h"
#include "tensor/products/gemm.h"

namespace rondo::tour {

/// 3.1: w w, with the derivative w in place of 2 w.
inline Variable half_differentiated_square(const Variable& w) {
  throw Error("exercise 3.1 is not written yet");
}

/// 3.2: dU [O, H] = dz_1^T h_0 + ... + dz_T^T h_(T-1) as one product, from dz [T, B, O] and h [T, B, H], the
/// states before the steps.
inline Tensor gradient_of_recurrent_weight(const Tensor& dz, const Tensor& h) {
  throw Error("exercise 3.2 is not written yet");
}

}  // namespace rondo::tour
