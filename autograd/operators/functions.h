// Functions of one value, and of several values that are not arithmetic. Next: nn/cells/gates.h.
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {

struct Absolute {
  static constexpr auto name = "abs";
  static constexpr auto equation = "|x|";
  static constexpr KnownValue known[] = {{{-2}, {2}}, {{0.5}, {0.5}}};
  HD auto operator()(auto x) const { return abs(x); }
};
inline Variable abs(const Variable& x) { return pointwise(Absolute{}, x); }

struct Square {
  static constexpr auto name = "square";
  static constexpr auto equation = "x * x";
  static constexpr KnownValue known[] = {{{-2}, {4}}, {{0.5}, {0.25}}};
  HD auto operator()(auto x) const { return x * x; }
};
inline Variable square(const Variable& x) { return pointwise(Square{}, x); }

struct SquareRoot {
  static constexpr auto name = "sqrt";
  static constexpr auto equation = "sqrt(x)";
  static constexpr KnownValue known[] = {{{2}, {1.41421356237}}, {{0.25}, {0.5}}};
  static constexpr Domain domain{0.1, 3};
  HD auto operator()(auto x) const { return sqrt(x); }
};
inline Variable sqrt(const Variable& x) { return pointwise(SquareRoot{}, x); }

struct Exponential {
  static constexpr auto name = "exp";
  static constexpr auto equation = "exp(x)";
  static constexpr KnownValue known[] = {{{1}, {2.71828182846}}, {{-0.5}, {0.606530659713}}};
  HD auto operator()(auto x) const { return exp(x); }
};
inline Variable exp(const Variable& x) { return pointwise(Exponential{}, x); }

struct Logarithm {
  static constexpr auto name = "log";
  static constexpr auto equation = "log(x)";
  static constexpr KnownValue known[] = {{{2}, {0.69314718056}}, {{0.1}, {-2.30258509299}}};
  static constexpr Domain domain{0.1, 3};
  HD auto operator()(auto x) const { return log(x); }
};
inline Variable log(const Variable& x) { return pointwise(Logarithm{}, x); }

struct Tanh {
  static constexpr auto name = "tanh";
  static constexpr auto equation = "tanh(x)";
  static constexpr KnownValue known[] = {{{0.5}, {0.46211715726}}, {{-2}, {-0.964027580076}}};
  HD auto operator()(auto x) const { return tanh(x); }
};
inline Variable tanh(const Variable& x) { return pointwise(Tanh{}, x); }

struct Sigmoid {
  static constexpr auto name = "sigmoid";
  static constexpr auto equation = "s(x) = 1 / (1 + exp(-x))";
  static constexpr auto arguments = "x";
  static constexpr KnownValue known[] = {{{1}, {0.73105857863}}, {{-3}, {0.0474258731776}}};
  HD auto operator()(auto x) const { return sigmoid(x); }
};
inline Variable sigmoid(const Variable& x) { return pointwise(Sigmoid{}, x); }

struct Relu {
  static constexpr auto name = "relu";
  static constexpr auto equation = "max(x, 0)";
  static constexpr KnownValue known[] = {{{-1}, {0}}, {{2}, {2}}};
  HD auto operator()(auto x) const { return max(x, 0); }
};
inline Variable relu(const Variable& x) { return pointwise(Relu{}, x); }

/// Hendrycks & Gimpel 2016, by tanh; the gate of feed-forward layers, Shazeer 2020 (GEGLU).
struct GatedGelu {
  static constexpr auto name = "gated_gelu";
  static constexpr auto equation = "gelu(a) b; gelu(x) = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))";
  static constexpr KnownValue known[] = {{{1, 2}, {1.68238398122}}, {{-0.5, -1.5}, {0.231428985262}}};
  HD auto operator()(auto a, auto b) const {
    return a * sigmoid(real(1.5957691216057308) * (a + real(0.044715) * a * a * a)) * b;
  }
};
inline Variable gated_gelu(const Variable& a, const Variable& b) { return pointwise(GatedGelu{}, a, b); }

struct LogAddExp {
  static constexpr auto name = "log_add_exp";
  static constexpr auto equation = "log(exp(a) + exp(b)) = max(a, b) + log1p(exp(-|a - b|))";
  static constexpr KnownValue known[] = {{{0, 0}, {0.69314718056}}, {{1, -1}, {1.12692801104}}};
  HD auto operator()(auto a, auto b) const { return max(a, b) + log1p(exp(-abs(a - b))); }
};
inline Variable log_add_exp(const Variable& a, const Variable& b) { return pointwise(LogAddExp{}, a, b); }

/// A unit whose mask is 0 keeps its state. Krueger et al. 2017 (zoneout).
struct Zoneout {
  static constexpr auto name = "zoneout";
  static constexpr auto equation = "mask > 0 ? new : old";
  static constexpr KnownValue known[] = {{{1, 2, 0}, {2}}, {{1, 2, 1.5}, {1}}};
  HD auto operator()(auto next, auto old, auto mask) const { return select(mask > 0, next, old); }
};

/// Batch normalisation by given statistics, Ioffe & Szegedy 2015. All inputs except x are vectors; beta may
/// also be a matrix, to which the result is added. See autograd/functions.h for the statistics, and for
/// constant columns.
struct BatchNormalization {
  static constexpr auto name = "batch_normalization";
  static constexpr auto equation =
      "gamma (x - mean) / sqrt(variance + epsilon) + beta; beta where variance < epsilon / 1000";
  static constexpr KnownValue known[] = {{{2, 1, 0.25, 0.5, 0.1}, {1.0999800006}},
                                         {{0.5, 1.5, 2, 1, -1}, {-1.70710501343}}};
  static constexpr Domain domain{0.1, 2};
  real epsilon = real(1e-5);
  HD auto operator()(auto x, auto mean, auto variance, auto gamma, auto beta) const {
    auto normalized = (x - mean) / sqrt(variance + epsilon);
    return gamma * select(variance < epsilon / 1000, 0, normalized) + beta;
  }
};

/// What of this file is launched, tested and documented.
using FunctionOperators = OperatorList<Absolute, Square, SquareRoot, Exponential, Logarithm, Tanh, Sigmoid,
                                       Relu, GatedGelu, LogAddExp, Zoneout, BatchNormalization>;

}  // namespace rondo
