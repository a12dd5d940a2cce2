// Kernels of normalisation: the moments of columns (batch normalisation) and of rows (layer normalisation).
#pragma once

#include "tensor/kernels/kernel.h"

namespace rondo {

/// The mean and the biased variance of each column over `count` rows, which are all. Mean and variance must
/// be zero on entry.
struct Moments {
  static constexpr auto visit = Visit::columns;
  Operand x;
  int64_t count;
  real *mean, *variance;
  HD void operator()(auto row, int64_t begin) const {
    real *mu = mean + begin, *v = variance + begin;
    const auto n = row.repeated(static_cast<real>(count));
    for (int64_t i = 0; i < count; ++i) add_row(row, mu, row_of(x, i) + begin);
    row.map(
        mu, [=](auto sum) { return sum / n; }, mu);
    for (int64_t i = 0; i < count; ++i)
      row.map(
          v, [](auto a, auto b, auto m) { return a + (b - m) * (b - m); }, v, row_of(x, i) + begin, mu);
    row.map(
        v, [=](auto sum) { return sum / n; }, v);
  }
};

/// dx[r, j] += (dmean[j] + 2 (x[r, j] - mean[j]) dvariance[j]) / count.
struct MomentsBackward {
  static constexpr auto visit = Visit::columns;
  Operand x;
  int64_t count;
  const real *mean, *dmean, *dvariance;
  Operand dx;
  HD void operator()(auto row, int64_t begin) const {
    const auto n = row.repeated(static_cast<real>(count));
    for (int64_t i = 0; i < count; ++i) {
      real* to = row_of(dx, i) + begin;
      row.map(
          to, [=](auto d, auto v, auto m, auto dm, auto dv) { return d + (dm + 2 * (v - m) * dv) / n; }, to,
          row_of(x, i) + begin, mean + begin, dmean + begin, dvariance + begin);
    }
  }
};

/// y[r] = (x[r] - mean(x[r])) * scale[r], with scale[r] = 1 / sqrt(variance(x[r]) + epsilon).
struct NormalizeRows {
  static constexpr auto visit = Visit::rows;
  Operand x;
  real epsilon;
  Operand y;
  real* scale;
  HD void operator()(auto row, int64_t r) const {
    const auto n = static_cast<real>(row.columns);
    const real* from = row_of(x, r);
    const auto mean = row.repeated(row.sum([](auto v) { return v; }, from) / n);
    const real variance = row.sum([=](auto v) { return (v - mean) * (v - mean); }, from) / n;
    const real by = 1 / sqrt(Scalar(variance + epsilon)).value;
    const auto factor = row.repeated(by);
    row.map(
        row_of(y, r), [=](auto v) { return (v - mean) * factor; }, from);
    if (row.first()) scale[r] = by;
  }
};

/// dx = scale * (dy - mean(dy) - y * mean(dy * y)).
struct NormalizeRowsBackward {
  static constexpr auto visit = Visit::rows;
  Operand y;
  const real* scale;
  Operand dy, dx;
  HD void operator()(auto row, int64_t r) const {
    const auto n = static_cast<real>(row.columns);
    const real *values = row_of(y, r), *given = row_of(dy, r);
    const auto mean = row.repeated(row.sum([](auto dv) { return dv; }, given) / n);
    const auto along = row.repeated(row.sum([](auto v, auto dv) { return v * dv; }, values, given) / n);
    const auto factor = row.repeated(scale[r]);
    row.map(
        row_of(dx, r), [=](auto v, auto dv) { return factor * (dv - mean - v * along); }, values, given);
  }
};

using NormalizationKernels = KernelList<Moments, MomentsBackward, NormalizeRows, NormalizeRowsBackward>;

}  // namespace rondo
