// Exercises of docs/tour/8_regularisation.md.
#pragma once

#include "tensor/random.h"
#include "tensor/tensor.h"

namespace rondo::tour {

/// 8.1: fills the vector `mask` with 0, with probability p, and 1 / (1 - p).
inline void draw_mask(const Tensor& mask, double p, const RandomKey& key) {
  throw Error("exercise 8.1 is not written yet");
}

/// 8.2: x [T, B, W] times one mask [B, W] for all steps.
inline Tensor dropped(const Tensor& x, const Tensor& mask) { throw Error("exercise 8.2 is not written yet"); }

}  // namespace rondo::tour
