// Vec: as many reals as a SIMD register holds, with our own exp, log, tanh and sigmoid.
// Only kernels include it, never a header that users include, and only g++'s pass of them: nvcc cannot
// compile vector types. Next: tensor/simd/dual.h, then tensor/kernels/pointwise_kernels.h.
//
// Its width depends on the compiler's flags, and the files of a program may be compiled with other flags than
// the library. So everything is in an unnamed namespace: each file has its own Vec, and with it its own copy
// of every template that uses one. Otherwise the linker would keep one copy for all, and where that is not
// inlined, as in a debug build, some callers would pass registers of another size (observed: gradients of 0,
// and a crash).
//
// Largest errors in ulp of the float functions, with and without FMA, over floats of all sizes
// (tests/tensor/vec_test.cpp): exp 1, log 1, tanh, sigmoid and log1p 2.5; a sigmoid below the
// smallest normal number may become 0. In double the functions call the C library, lane by lane: the double
// build exists for the tests, where a finite difference needs its accuracy more than speed.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "tensor/backend.h"

namespace rondo {
namespace {

class Vec {
 public:
#if defined(RONDO_DOUBLE)
  static constexpr int bytes = 16;  // few lanes beyond the short rows of tests, each a call of the C library
#elif defined(__AVX512F__)
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
  /// The last `count` < size elements of a row. The other lanes compute on zeros and are discarded, so that a
  /// value never depends on the length of its array.
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

HD Vec each_lane(Vec x, real (*function)(real)) {
  for (int i = 0; i < Vec::size; ++i) x.lanes[i] = function(x.lanes[i]);
  return x;
}
HD Vec sqrt(Vec x) { return each_lane(x, std::sqrt); }

#ifdef RONDO_DOUBLE

HD Vec exp(Vec x) { return each_lane(x, std::exp); }
HD Vec log(Vec x) { return each_lane(x, std::log); }
HD Vec tanh(Vec x) { return each_lane(x, std::tanh); }
HD Vec log1p(Vec x) { return each_lane(x, std::log1p); }

#else

HD Vec::IntegerLanes bits(Vec x) { return reinterpret_cast<Vec::IntegerLanes>(x.lanes); }
HD Vec from_bits(Vec::IntegerLanes x) { return reinterpret_cast<Vec::Lanes>(x); }

/// x = n ln(2) + r with whole n and |r| <= ln(2)/2, for |x| < 2^22.
struct Reduced {
  Vec::IntegerLanes n;
  Vec exp_r_minus_1;  // polynomial of degree 6 (Cephes' expf)

  HD explicit Reduced(Vec x) {
    const Vec shift(12582912.0f);  // 1.5 * 2^23: adding it puts the nearest integer into the low bits
    const Vec shifted = x * 1.44269504088896341f + shift;
    const Vec whole = shifted - shift;
    const Vec r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    n = bits(shifted) - bits(shift);
    Vec p(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    exp_r_minus_1 = p * (r * r) + r;
  }
};
/// 2^n for -127 < n < 128.
HD Vec power_of_2(Vec::IntegerLanes n) { return from_bits((n + 127) << 23); }

/// 2^n exp(r). Overflows to infinity, underflows through the subnormals to 0.
HD Vec exp(Vec x) {
  const Reduced it(select(x > Vec(89.0f), Vec(89.0f), select(x < Vec(-104.0f), Vec(-104.0f), x)));
  const auto half = it.n >> 1;  // 2^n in two factors: n runs from -150 to 128
  return (it.exp_r_minus_1 + 1.0f) * power_of_2(half) * power_of_2(it.n - half);
}

/// exp(x) - 1 without cancellation, 2^n (exp(r) - 1) + (2^n - 1), for -80 <= x <= 88. tanh() needs it.
HD Vec expm1_within(Vec x) {
  const Reduced it(x);
  const Vec power = power_of_2(it.n);
  return power * it.exp_r_minus_1 + (power - 1.0f);
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

/// m / (m + 2) with the sign of x, where m = exp(2|x|) - 1; from |x| = 10 on the magnitude is 1.
HD Vec tanh(Vec x) {
  const Vec size = abs(x);
  const Vec m = expm1_within(select(size > Vec(10.0f), Vec(20.0f), size + size));
  const auto sign = bits(x) & bits(Vec(-0.0f));
  return from_bits(bits(m / (m + 2.0f)) | sign);
}

/// log(1 + x) without cancellation near 0 (Kahan: log(u) x / (u - 1), u = 1 + x; the quotient first, as
/// log(u) x may overflow).
HD Vec log1p(Vec x) {
  const Vec u = 1.0f + x;
  return select(u == Vec(1.0f), x, select(x == Vec(INFINITY), x, log(u) * (x / (u - 1.0f))));
}

#endif

HD Vec sigmoid(Vec x) { return Vec(1) / (Vec(1) + exp(-x)); }

}  // namespace
}  // namespace rondo
