// Solutions of docs/tour/11_scan.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tensor/tensor.h"

namespace rondo::tour {

/// A step h' = a h + b, or several together.
struct Pair {
  real a, b;
};
struct Scanned {
  std::vector<Pair> pairs;  // of all steps up to t
  int multiplications;
};

/// 11.1: joins the steps in rounds.
inline Scanned scan_in_rounds(std::vector<Pair> steps) {
  int multiplications = 0;
  for (int64_t distance = 1; distance < std::ssize(steps); distance *= 2)
    for (int64_t t = std::ssize(steps) - 1; t >= distance; --t, multiplications += 2) {
      const Pair first = steps[t - distance], second = steps[t];  // the earlier one is not yet replaced
      steps[t] = {second.a * first.a, second.a * first.b + second.b};
    }
  return {steps, multiplications};
}

/// 11.2: h_T of h_t = h_(t-1) / 2 + 1 / 2 from h_0 = 0, in float: as A_T u_T, and by logarithms.
inline float by_quotients(int T) {
  float product = 1, quotients = 0;
  for (int t = 1; t <= T; ++t) {
    product *= 0.5f;
    quotients += 0.5f / product;
  }
  return product * quotients;
}

inline float by_logarithms(int T) {
  float product = 0, quotients = -std::numeric_limits<float>::infinity();
  for (int t = 1; t <= T; ++t) {
    product += std::log(0.5f);
    const float next = std::log(0.5f) - product, largest = std::max(quotients, next);
    quotients = largest + std::log(std::exp(quotients - largest) + std::exp(next - largest));
  }
  return std::exp(product + quotients);
}

}  // namespace rondo::tour
