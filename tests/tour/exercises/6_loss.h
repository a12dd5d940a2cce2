// Exercises of docs/tour/6_loss.md.
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
  throw Error("exercise 6.1 is not written yet");
}

/// 6.2: dC/dU [H, H] of h_t = tanh(W x_t + U h_(t-1)). Row t of h [T + 1, H] is h_t, the first one h_0; row
/// t - 1 of e [T, H] is the derivative of C by the direct way alone, e_t. "Back through time" has the
/// equations.
inline Tensor back_through_time(const Tensor& U, const Tensor& h, const Tensor& e) {
  throw Error("exercise 6.2 is not written yet");
}

}  // namespace rondo::tour
