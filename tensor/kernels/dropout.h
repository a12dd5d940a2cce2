// Kernels that draw random numbers: dropout masks, normal noise.
#pragma once

#include "tensor/kernels/kernel.h"
#include "tensor/random.h"

namespace rondo {

/// What dropout multiplies elements by: 0 if an element's random word is below the threshold, else `kept`.
struct DropoutFactors {
  RandomKey key;
  uint32_t threshold;
  real kept;
  BatchSlice slice;

  // Not `?:`: its branch would be unpredictable.
  HD real of(uint32_t word) const { return static_cast<real>(word >= threshold) * kept; }
  /// The number of the first word of row r.
  HD uint64_t first_of_row(int64_t r, int64_t columns) const {
    // The row's number in the whole batch, whose elements are counted.
    const uint64_t logical_row = r / slice.batch * slice.whole + slice.first + r % slice.batch;
    return logical_row * columns;
  }
};

struct DropoutMask {
  static constexpr auto visit = Visit::rows;
  DropoutFactors factors;
  Operand mask;
  HD void operator()(auto row, int64_t r) const {
    const auto value = [=, this](uint32_t word) { return factors.of(word); };
    row.map_words(row_of(mask, r), value, factors.key.now(), factors.first_of_row(r, row.columns));
  }
};

/// y = x times the mask, which is never in memory; or y += that, if it adds.
struct Drop {
  static constexpr auto visit = Visit::rows;
  DropoutFactors factors;
  Operand x;
  bool adds;
  Operand y;
  HD void operator()(auto row, int64_t r) const {
    real* to = row_of(y, r);
    const real* from = row_of(x, r);
    const RandomKey key = factors.key.now();
    const uint64_t first = factors.first_of_row(r, row.columns);
    if (adds)
      row.map_words(
          to, [=, this](uint32_t word, real sum, real v) { return sum + v * factors.of(word); }, key, first,
          to, from);
    else
      row.map_words(
          to, [=, this](uint32_t word, real v) { return v * factors.of(word); }, key, first, from);
  }
};

namespace detail {

/// The number that a standard normal variable is below with probability (1 + x) / 2, for |x| < 1: sqrt(2)
/// times the inverse of the error function, by the polynomials of Giles 2010, "Approximating the erfinv
/// function", in single precision (also in double).
template <class Lanes>
HD Lanes normal_quantile(Lanes x) {
  const auto polynomial = [](Lanes w, const auto&... coefficients) {
    Lanes p(real(0));
    ((p = p * w + Lanes(static_cast<real>(coefficients))), ...);
    return p;
  };
  const Lanes w = -log((Lanes(1) - x) * (Lanes(1) + x));
  const Lanes near =
      polynomial(w - Lanes(real(2.5)), 2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f,
                 0.00021858087f, -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f);
  const Lanes far =
      polynomial(sqrt(w) - Lanes(real(3)), -0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f,
                 0.00573950773f, -0.0076224613f, 0.00943887047f, 1.00167406f, 2.83297682f);
  return select(w < Lanes(real(5)), near, far) * x * Lanes(real(1.41421356f));
}

}  // namespace detail

/// Adds normal noise of mean 0 to x: element i gets that of random word i. The largest is 5.4 times the
/// deviation.
struct AddNormal {
  static constexpr auto visit = Visit::rows;
  RandomKey key;
  real deviation;
  Operand x, to;

  HD void operator()(auto row, int64_t r) const {
    real* out = row_of(to, r);
    // In (-1, 1): the numbers nearest to the ends are rounded to these.
    const auto uniform = [](uint32_t word) {
      constexpr real most = real(0.99999994f);
      const real value = static_cast<real>(static_cast<int32_t>(word ^ 0x80000000u)) * real(0x1p-31f);
      return value > most ? most : value < -most ? -most : value;
    };
    row.map_words(out, uniform, key.now(), r * row.columns);
    row.wait();
    const auto by = row.repeated(deviation);
    row.map(
        out, [=](auto u, auto v) { return v + by * detail::normal_quantile(u); }, out, row_of(x, r));
  }
};

using DropoutKernels = KernelList<DropoutMask, Drop, AddNormal>;

}  // namespace rondo
