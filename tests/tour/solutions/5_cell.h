// Solutions of docs/tour/5_cell.md.
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
  Numbers next;
  for (size_t j = 0; j < h.size(); ++j) {
    double z = b_ih[j] + b_hh[j];
    for (size_t i = 0; i < x.size(); ++i) z += W[j * x.size() + i] * x[i];
    for (size_t i = 0; i < h.size(); ++i) z += U[j * h.size() + i] * h[i];
    next.push_back(std::tanh(z));
  }
  return next;
}

/// 5.2: f'(x) by a complex step, and by central differences over d. `f` takes a double or a
/// std::complex<double>.
double by_complex_step(auto f, double x) { return std::imag(f(std::complex(x, 1e-100))) / 1e-100; }

double by_central_differences(auto f, double x, double d) { return (f(x + d) - f(x - d)) / (2 * d); }

}  // namespace rondo::tour
