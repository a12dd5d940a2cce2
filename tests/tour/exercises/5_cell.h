// Exercises of docs/tour/5_cell.md.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "tensor/error.h"

namespace rondo::tour {

using Numbers = std::vector<double>;

/// 5.1: h' = tanh(W x + b_ih + U h + b_hh) by loops; W [H, I] and U [H, H] row by row.
inline Numbers rnn_step(const Numbers& x, const Numbers& h, const Numbers& W, const Numbers& U,
                        const Numbers& b_ih, const Numbers& b_hh) {
  throw Error("exercise 5.1 is not written yet");
}

/// 5.2: f'(x) by a complex step, and by central differences over d. `f` takes a double or a
/// std::complex<double>.
double by_complex_step(auto f, double x) { throw Error("exercise 5.2 is not written yet"); }

double by_central_differences(auto f, double x, double d) { throw Error("exercise 5.2 is not written yet"); }

}  // namespace rondo::tour
