// Vec: as many reals as a SIMD register holds, with our own exp, log, tanh and sigmoid.
// Only kernels include it, never a header that users include (its width depends on the compiler's flags), and
// only g++'s pass of them: nvcc cannot compile vector types. Next: tensor/dual.h, then
// tensor/pointwise_kernels.h.
//
// Largest errors in ulp of the float functions, with and without FMA, over floats of all sizes
// (tests/tensor/vec_test.cpp): exp 1, log 1, tanh 1.5, sigmoid, expm1 and log1p 2.5; a sigmoid below the
// smallest normal number may become 0. In double the functions call the C library, lane by lane: the double
// build exists for the tests, where a finite difference needs its accuracy more than speed.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "tensor/backend.h"

namespace rondo {

class Vec {
 public:
#if defined(__AVX512F__)
  static constexpr int bytes = 64;
#elif defined(__AVX__)
  static constexpr int bytes = 32;
#else
  static constexpr int bytes = 16;
#endif
  static constexpr int size = bytes / static_cast<int>(sizeof(real));
  using Integer = std::conditional_t<sizeof(real) == 4, int32_t, int64_t>;
  typedef real Lanes __attribute__((vector_size(bytes)));
  typedef Integer IntegerLanes __attribute__((vector_size(bytes)));
  struct Mask {
    IntegerLanes lanes;  // all bits set where true
  };

  Vec() = default;
  HD Vec(real x) : lanes(x - Lanes{}) {}  // x - 0 is x, even for x = -0
  HD Vec(Lanes x) : lanes(x) {}

  HD static Vec load(const real* from) {
    Vec x;
    std::memcpy(&x.lanes, from, bytes);
    return x;
  }
  HD void store(real* to) const { std::memcpy(to, &lanes, bytes); }
  /// The last `count` < size elements of a row. The other lanes compute on zeros and are thrown away, so that
  /// a value never depends on the length of its array.
  HD static Vec load(const real* from, int64_t count) {
    Vec x(real(0));
    for (int64_t i = 0; i < count; ++i) x.lanes[i] = from[i];
    return x;
  }
  HD void store(real* to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
  }

  HD friend Vec operator+(Vec a, Vec b) { return a.lanes + b.lanes; }
  HD friend Vec operator-(Vec a, Vec b) { return a.lanes - b.lanes; }
  HD friend Vec operator*(Vec a, Vec b) { return a.lanes * b.lanes; }
  HD friend Vec operator/(Vec a, Vec b) { return a.lanes / b.lanes; }
  HD friend Vec operator-(Vec a) { return -a.lanes; }
  HD friend Mask operator<(Vec a, Vec b) { return {a.lanes < b.lanes}; }
  HD friend Mask operator<=(Vec a, Vec b) { return {a.lanes <= b.lanes}; }
  HD friend Mask operator>(Vec a, Vec b) { return {a.lanes > b.lanes}; }
  HD friend Mask operator>=(Vec a, Vec b) { return {a.lanes >= b.lanes}; }
  HD friend Mask operator==(Vec a, Vec b) { return {a.lanes == b.lanes}; }

  Lanes lanes;
};

HD Vec select(Vec::Mask condition, Vec a, Vec b) {
  auto bits_a = reinterpret_cast<Vec::IntegerLanes>(a.lanes),
       bits_b = reinterpret_cast<Vec::IntegerLanes>(b.lanes);
  return reinterpret_cast<Vec::Lanes>((condition.lanes & bits_a) | (~condition.lanes & bits_b));
}
HD Vec max(Vec a, Vec b) { return select(a >= b, a, b); }
HD Vec min(Vec a, Vec b) { return select(a <= b, a, b); }
HD Vec abs(Vec x) { return max(x, -x); }

template <class Function>
HD Vec each_lane(Vec x, Function function) {
  for (int i = 0; i < Vec::size; ++i) x.lanes[i] = function(x.lanes[i]);
  return x;
}
HD Vec sqrt(Vec x) {
  return each_lane(x, [](real v) { return std::sqrt(v); });
}

#ifdef RONDO_DOUBLE

HD Vec exp(Vec x) {
  return each_lane(x, [](real v) { return std::exp(v); });
}
HD Vec log(Vec x) {
  return each_lane(x, [](real v) { return std::log(v); });
}
HD Vec tanh(Vec x) {
  return each_lane(x, [](real v) { return std::tanh(v); });
}
HD Vec expm1(Vec x) {
  return each_lane(x, [](real v) { return std::expm1(v); });
}
HD Vec log1p(Vec x) {
  return each_lane(x, [](real v) { return std::log1p(v); });
}

#else

HD Vec::IntegerLanes bits(Vec x) { return reinterpret_cast<Vec::IntegerLanes>(x.lanes); }
HD Vec from_bits(Vec::IntegerLanes x) { return reinterpret_cast<Vec::Lanes>(x); }

/// exp(x) = 2^n exp(r), |r| <= ln(2)/2, with a polynomial of degree 6 (Cephes' expf). Overflows to infinity,
/// underflows through the subnormals to 0.
HD Vec exp(Vec x) {
  const Vec clamped = select(x > Vec(89.0f), Vec(89.0f), select(x < Vec(-104.0f), Vec(-104.0f), x));
  const Vec shift(12582912.0f);  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const Vec shifted = clamped * 1.44269504088896341f + shift;
  const Vec n = shifted - shift;
  const Vec r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  Vec p(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const auto exponent = bits(shifted) - bits(shift);
  const auto half = exponent >> 1;  // 2^n in two factors: n runs from -150 to 128
  return p * from_bits((half + 127) << 23) * from_bits((exponent - half + 127) << 23);
}

/// log(x) = n ln(2) + log(m), m in [sqrt(1/2), sqrt(2)), with a polynomial of degree 8 (Cephes' logf).
HD Vec log(Vec x) {
  const auto subnormal = x < Vec(1.17549435e-38f);
  const Vec scaled = select(subnormal, x * 8388608.0f, x);
  const auto exponent_bits = ((bits(scaled) >> 23) & 0xff) - 126;
  Vec n = __builtin_convertvector(exponent_bits, Vec::Lanes) - select(subnormal, Vec(23.0f), Vec(0.0f)).lanes;
  Vec m = from_bits((bits(scaled) & 0x007fffff) | 0x3f000000);  // [0.5, 1)
  const auto low = m < Vec(0.707106781186547524f);
  n = select(low, n - 1.0f, n);
  m = select(low, m + m, m) - 1.0f;
  const Vec z = m * m;
  Vec p(7.0376836292e-2f);
  p = p * m + -1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m + -1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m + -1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m + -2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  p = p * m * z + n * -2.12194440e-4f - 0.5f * z;
  Vec y = m + p + n * 0.693359375f;
  y = select(x == Vec(0.0f), Vec(-INFINITY), y);
  y = select(x == Vec(INFINITY), x, y);
  return select(x >= Vec(0.0f), y, Vec(NAN));
}

/// Below 0.625 an odd polynomial (Cephes' tanhf), above it 1 - 2 / (exp(2|x|) + 1).
HD Vec tanh(Vec x) {
  const Vec z = x * x;
  Vec p(-5.70498872745e-3f);
  p = p * z + 2.06390887954e-2f;
  p = p * z + -5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z + -3.33332819422e-1f;
  const Vec size = abs(x);
  const Vec large = 1.0f - 2.0f / (exp(size + size) + 1.0f);
  return select(size < Vec(0.625f), x + x * z * p, select(x < Vec(0.0f), -large, large));
}

/// exp(x) - 1 without cancellation near 0 (Kahan: (u - 1) x / log(u), u = exp(x)).
HD Vec expm1(Vec x) {
  const Vec u = exp(x);
  const Vec y = (u - 1.0f) * x / log(u);
  return select(u == Vec(1.0f), x, select(abs(x) > Vec(1.0f), u - 1.0f, y));
}

/// log(1 + x) without cancellation near 0 (Kahan: log(u) x / (u - 1), u = 1 + x; the quotient first, as
/// log(u) x may overflow).
HD Vec log1p(Vec x) {
  const Vec u = 1.0f + x;
  return select(u == Vec(1.0f), x, select(x == Vec(INFINITY), x, log(u) * (x / (u - 1.0f))));
}

#endif

HD Vec sigmoid(Vec x) { return Vec(1) / (Vec(1) + exp(-x)); }

}  // namespace rondo
