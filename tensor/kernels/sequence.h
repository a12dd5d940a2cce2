// Kernels along time, the first dimension of [T, B, W].
#pragma once

#include "tensor/kernels/kernel.h"

namespace rondo {

/// y[b, j] = max over t < lengths[b] of x[t * batch + b, j], every length being 1 or more. Launched with the
/// size of y.
struct MaxOverFirst {
  static constexpr auto visit = Visit::elements;
  Operand x;
  const int32_t* lengths;
  int64_t batch;
  Operand y;
  HD void operator()(auto row, int64_t b, int64_t begin) const {
    real* to = row_of(y, b) + begin;
    copy_row(row, to, row_of(x, b) + begin);
    for (int64_t t = 1; t < lengths[b]; ++t)
      row.map(
          to, [](auto largest, auto v) { return max(largest, v); }, to, row_of(x, t * batch + b) + begin);
  }
};

/// dx = rest where x is the maximum y, else 0, also in the padding up to `steps`. `rest` holds dy at the
/// start and becomes 0 at the first maximum, so that of equal elements only the first gets the gradient.
struct MaxOverFirstBackward {
  static constexpr auto visit = Visit::elements;
  Operand x, y, rest;
  const int32_t* lengths;
  int64_t steps, batch;
  Operand dx;
  HD void operator()(auto row, int64_t b, int64_t begin) const {
    real* left = row_of(rest, b) + begin;
    const auto zero = row.repeated(0);
    for (int64_t t = 0; t < steps; ++t) {
      real* to = row_of(dx, t * batch + b) + begin;
      if (t < lengths[b]) {
        row.map(
            to, [=](auto v, auto largest, auto gradient) { return select(v >= largest, gradient, zero); },
            row_of(x, t * batch + b) + begin, row_of(y, b) + begin, left);
        row.map(
            left, [](auto gradient, auto taken) { return gradient - taken; }, left, to);
      } else {
        fill_row(row, to, 0);
      }
    }
  }
};

using SequenceKernels = KernelList<MaxOverFirst, MaxOverFirstBackward>;

}  // namespace rondo
