// Solutions of docs/tour/8_regularisation.md.
#pragma once

#include "tensor/random.h"
#include "tensor/tensor.h"

namespace rondo::tour {

/// 8.1: fills the vector `mask` with 0, with probability p, and 1 / (1 - p).
inline void draw_mask(const Tensor& mask, double p, const RandomKey& key) {
  fill_uniform(mask, key, 0, 1);
  real* it = mask.mutable_data();
  for (int64_t i = 0; i < mask.size(); ++i) it[i] = it[i] < p ? 0 : static_cast<real>(1 / (1 - p));
}

/// 8.2: x [T, B, W] times one mask [B, W] for all steps.
inline Tensor dropped(const Tensor& x, const Tensor& mask) {
  const Tensor y(x.shape());
  for (int64_t t = 0; t < x.shape()[0]; ++t)
    for (int64_t b = 0; b < mask.rows(); ++b)
      for (int64_t j = 0; j < mask.columns(); ++j)
        y[t][b].mutable_data()[j] = x[t][b].data()[j] * mask[b].data()[j];
  return y;
}

}  // namespace rondo::tour
