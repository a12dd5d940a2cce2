// Solutions of docs/tour/6_loss.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/tensor.h"

namespace rondo::tour {

struct LossAndGradient {
  double loss;                   // -ln p of the target
  std::vector<double> gradient;  // dloss/dz, of each logit
};

/// 6.1: softmax with cross-entropy of the logits z. They may be far from 0: exp(1000) is no finite number.
inline LossAndGradient cross_entropy_by_hand(std::vector<double> z, size_t target) {
  const double largest = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (const double it : z) sum += std::exp(it - largest);
  const double loss = std::log(sum) - (z[target] - largest);
  for (double& it : z) it = std::exp(it - largest) / sum;
  z[target] -= 1;
  return {loss, z};
}

/// 6.2: dC/dU [H, H] of h_t = tanh(W x_t + U h_(t-1)). Row t of h [T + 1, H] is h_t, the first one h_0; row
/// t - 1 of e [T, H] is the derivative of C by the direct way alone, e_t. "Back through time" has the
/// equations.
inline Tensor back_through_time(const Tensor& U, const Tensor& h, const Tensor& e) {
  const int64_t T = e.rows(), H = e.columns();
  const Tensor dU = Tensor::zeros({H, H});
  std::vector<real> later(H), da(H);
  for (int64_t t = T; t > 0; --t) {
    const real *now = h[t].data(), *before = h[t - 1].data(), *direct = e[t - 1].data();
    for (int64_t j = 0; j < H; ++j) da[j] = (direct[j] + later[j]) * (1 - now[j] * now[j]);
    std::fill(later.begin(), later.end(), real(0));
    for (int64_t j = 0; j < H; ++j)
      for (int64_t k = 0; k < H; ++k) {
        dU[j].mutable_data()[k] += da[j] * before[k];
        later[k] += U[j].data()[k] * da[j];
      }
  }
  return dU;
}

}  // namespace rondo::tour
