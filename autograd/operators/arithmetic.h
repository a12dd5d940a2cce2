// Arithmetic of two values of one shape, of which one may be a vector [columns], which is repeated for all
// rows; and of one value with a number. Next: autograd/operators/functions.h.
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {

struct Add {
  static constexpr auto name = "add";
  static constexpr auto equation = "a + b";
  static constexpr KnownValue known[] = {{{1, 2}, {3}}, {{-1, 0.5}, {-0.5}}};
  HD auto operator()(auto a, auto b) const { return a + b; }
};
inline Variable operator+(const Variable& a, const Variable& b) { return pointwise(Add{}, a, b); }

struct Subtract {
  static constexpr auto name = "subtract";
  static constexpr auto equation = "a - b";
  static constexpr KnownValue known[] = {{{1, 2}, {-1}}, {{-1, 0.5}, {-1.5}}};
  HD auto operator()(auto a, auto b) const { return a - b; }
};
inline Variable operator-(const Variable& a, const Variable& b) { return pointwise(Subtract{}, a, b); }

struct Multiply {
  static constexpr auto name = "multiply";
  static constexpr auto equation = "a * b";
  static constexpr KnownValue known[] = {{{3, 2}, {6}}, {{-1, 0.5}, {-0.5}}};
  HD auto operator()(auto a, auto b) const { return a * b; }
};
inline Variable operator*(const Variable& a, const Variable& b) { return pointwise(Multiply{}, a, b); }

struct Divide {
  static constexpr auto name = "divide";
  static constexpr auto equation = "a / b";
  static constexpr KnownValue known[] = {{{3, 2}, {1.5}}, {{-1, 0.5}, {-2}}};
  static constexpr Domain domain{0.5, 2};
  HD auto operator()(auto a, auto b) const { return a / b; }
};
inline Variable operator/(const Variable& a, const Variable& b) { return pointwise(Divide{}, a, b); }

struct Maximum {
  static constexpr auto name = "maximum";
  static constexpr auto equation = "max(a, b); at a tie the gradient goes to a";
  static constexpr KnownValue known[] = {{{1, 2}, {2}}, {{-1, -2}, {-1}}};
  HD auto operator()(auto a, auto b) const { return max(a, b); }
};
inline Variable maximum(const Variable& a, const Variable& b) { return pointwise(Maximum{}, a, b); }

struct Minimum {
  static constexpr auto name = "minimum";
  static constexpr auto equation = "min(a, b); at a tie the gradient goes to a";
  static constexpr KnownValue known[] = {{{1, 2}, {1}}, {{-1, -2}, {-2}}};
  HD auto operator()(auto a, auto b) const { return min(a, b); }
};
inline Variable minimum(const Variable& a, const Variable& b) { return pointwise(Minimum{}, a, b); }

// ---- With a number.

struct Affine {
  static constexpr auto name = "affine";
  static constexpr auto equation = "factor * x + offset";
  static constexpr KnownValue known[] = {{{2}, {6.5}}, {{-1}, {-2.5}}};
  real factor = 3, offset = 0.5;
  HD auto operator()(auto x) const { return factor * x + offset; }
};
inline Variable operator+(const Variable& x, real offset) { return pointwise(Affine{1, offset}, x); }
inline Variable operator+(real offset, const Variable& x) { return pointwise(Affine{1, offset}, x); }
inline Variable operator-(const Variable& x, real offset) { return pointwise(Affine{1, -offset}, x); }
inline Variable operator-(real offset, const Variable& x) { return pointwise(Affine{-1, offset}, x); }
inline Variable operator-(const Variable& x) { return pointwise(Affine{-1, 0}, x); }
inline Variable operator*(const Variable& x, real factor) { return pointwise(Affine{factor, 0}, x); }
inline Variable operator*(real factor, const Variable& x) { return pointwise(Affine{factor, 0}, x); }
inline Variable operator/(const Variable& x, real divisor) { return pointwise(Affine{1 / divisor, 0}, x); }

struct Clamp {
  static constexpr auto name = "clamp";
  static constexpr auto equation = "min(max(x, low), high)";
  static constexpr KnownValue known[] = {{{0.25}, {0.25}}, {{-3}, {-1}}};
  real low = -1, high = 1;
  HD auto operator()(auto x) const { return min(max(x, low), high); }
};
inline Variable clamp(const Variable& x, real low, real high) { return pointwise(Clamp{low, high}, x); }

/// A step of scan() in autograd/functions.h.
struct LinearRecurrence {
  static constexpr auto name = "linear_recurrence";
  static constexpr auto equation = "a h + b";
  static constexpr int state = 2;
  static constexpr KnownValue known[] = {{{0.5, 1, 2}, {2}}, {{-0.25, 3, 4}, {2}}};
  HD auto operator()(auto a, auto b, auto h) const { return a * h + b; }
};

/// The operators of this file.
using ArithmeticOperators =
    OperatorList<Add, Subtract, Multiply, Divide, Maximum, Minimum, Affine, Clamp, LinearRecurrence>;

}  // namespace rondo
