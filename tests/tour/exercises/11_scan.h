// Exercises of docs/tour/11_scan.md.
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
inline Scanned scan_in_rounds(std::vector<Pair> steps) { throw Error("exercise 11.1 is not written yet"); }

/// 11.2: h_T of h_t = h_(t-1) / 2 + 1 / 2 from h_0 = 0, in float: as A_T u_T, and by logarithms.
inline float by_quotients(int T) { throw Error("exercise 11.2 is not written yet"); }

inline float by_logarithms(int T) { throw Error("exercise 11.2 is not written yet"); }

}  // namespace rondo::tour
