// Exercises of docs/tour/10_time.md.
#pragma once

#include <cstdint>

#include "tensor/error.h"

namespace rondo::tour {

/// 10.1: of the products of y = x W^T, forward and backward: x [rows, I], W [O, I], which is trained.
inline int64_t operations(int64_t rows, int64_t I, int64_t O, bool x_needs_gradient) {
  throw Error("exercise 10.1 is not written yet");
}

}  // namespace rondo::tour
