// Scalar: one real with the operations of Vec, so that an operator's body means the same on CUDA and in
// tests. There is deliberately no conversion back to real, so that a body cannot use built-in arithmetic by
// accident. Next: tensor/simd/vec.h.
#pragma once

#include <cmath>

#include "tensor/backend.h"

#ifndef RONDO_MATH
#define RONDO_MATH std  // the emulated GPU of tests has its own: tests/emulated_gpu/functions.h
#endif

namespace rondo {

class Scalar {
 public:
  Scalar() = default;
  HD Scalar(real x) : value(x) {}

  HD friend Scalar operator+(Scalar a, Scalar b) { return a.value + b.value; }
  HD friend Scalar operator-(Scalar a, Scalar b) { return a.value - b.value; }
  HD friend Scalar operator*(Scalar a, Scalar b) { return a.value * b.value; }
  HD friend Scalar operator/(Scalar a, Scalar b) { return a.value / b.value; }
  HD friend Scalar operator-(Scalar a) { return -a.value; }
  HD friend bool operator<(Scalar a, Scalar b) { return a.value < b.value; }
  HD friend bool operator<=(Scalar a, Scalar b) { return a.value <= b.value; }
  HD friend bool operator>(Scalar a, Scalar b) { return a.value > b.value; }
  HD friend bool operator>=(Scalar a, Scalar b) { return a.value >= b.value; }
  HD friend bool operator==(Scalar a, Scalar b) { return a.value == b.value; }

  real value;
};

HD Scalar select(bool condition, Scalar a, Scalar b) { return condition ? a : b; }
HD Scalar max(Scalar a, Scalar b) { return select(a >= b, a, b); }
HD Scalar min(Scalar a, Scalar b) { return select(a <= b, a, b); }
HD Scalar abs(Scalar x) { return std::fabs(x.value); }
HD Scalar sqrt(Scalar x) { return std::sqrt(x.value); }
HD Scalar exp(Scalar x) { return RONDO_MATH::exp(x.value); }
HD Scalar log(Scalar x) { return RONDO_MATH::log(x.value); }
HD Scalar log1p(Scalar x) { return RONDO_MATH::log1p(x.value); }
HD Scalar tanh(Scalar x) { return RONDO_MATH::tanh(x.value); }
HD Scalar sigmoid(Scalar x) { return Scalar(1) / (Scalar(1) + exp(-x)); }

}  // namespace rondo
