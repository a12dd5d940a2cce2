// The pointwise operators: each a struct whose body is its formula, the function that users call beside it,
// and the list at the end. To add one, write both and put it on the list: its derivative, SIMD loop, CUDA
// kernel, gradient check and row of `lm info --operators` follow. The loops: tensor/pointwise_kernels.h.
// Operators that mix elements: autograd/functions.h. A body uses + - * /, sqrt exp expm1 log log1p tanh
// sigmoid abs, max min and select; literals have type `real`.
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/dual.h"
#include "tensor/scalar.h"

namespace rondo {

// ---- Arithmetic on two values of the same shape; a vector [columns] is repeated for all rows.

struct Add {
  static constexpr auto name = "add";
  static constexpr auto equation = "a + b";
  HD auto operator()(auto a, auto b) const { return a + b; }
};
inline Variable operator+(const Variable& a, const Variable& b) { return pointwise(Add{}, a, b); }

struct Subtract {
  static constexpr auto name = "subtract";
  static constexpr auto equation = "a - b";
  HD auto operator()(auto a, auto b) const { return a - b; }
};
inline Variable operator-(const Variable& a, const Variable& b) { return pointwise(Subtract{}, a, b); }

struct Multiply {
  static constexpr auto name = "multiply";
  static constexpr auto equation = "a * b";
  HD auto operator()(auto a, auto b) const { return a * b; }
};
inline Variable operator*(const Variable& a, const Variable& b) { return pointwise(Multiply{}, a, b); }

struct Divide {
  static constexpr auto name = "divide";
  static constexpr auto equation = "a / b";
  static constexpr Domain domain{0.5, 2};
  HD auto operator()(auto a, auto b) const { return a / b; }
};
inline Variable operator/(const Variable& a, const Variable& b) { return pointwise(Divide{}, a, b); }

struct Maximum {
  static constexpr auto name = "maximum";
  static constexpr auto equation = "max(a, b); at a tie the gradient goes to a";
  HD auto operator()(auto a, auto b) const { return max(a, b); }
};
inline Variable maximum(const Variable& a, const Variable& b) { return pointwise(Maximum{}, a, b); }

struct Minimum {
  static constexpr auto name = "minimum";
  static constexpr auto equation = "min(a, b); at a tie the gradient goes to a";
  HD auto operator()(auto a, auto b) const { return min(a, b); }
};
inline Variable minimum(const Variable& a, const Variable& b) { return pointwise(Minimum{}, a, b); }

// ---- With a number.

struct Affine {
  static constexpr auto name = "affine";
  static constexpr auto equation = "factor * x + offset";
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
  real low = -1, high = 1;
  HD auto operator()(auto x) const { return min(max(x, low), high); }
};
inline Variable clamp(const Variable& x, real low, real high) { return pointwise(Clamp{low, high}, x); }

// ---- Functions of one value.

struct Absolute {
  static constexpr auto name = "abs";
  static constexpr auto equation = "|x|";
  HD auto operator()(auto x) const { return abs(x); }
};
inline Variable abs(const Variable& x) { return pointwise(Absolute{}, x); }

struct Square {
  static constexpr auto name = "square";
  static constexpr auto equation = "x * x";
  HD auto operator()(auto x) const { return x * x; }
};
inline Variable square(const Variable& x) { return pointwise(Square{}, x); }

struct SquareRoot {
  static constexpr auto name = "sqrt";
  static constexpr auto equation = "sqrt(x)";
  static constexpr Domain domain{0.1, 3};
  HD auto operator()(auto x) const { return sqrt(x); }
};
inline Variable sqrt(const Variable& x) { return pointwise(SquareRoot{}, x); }

struct Exponential {
  static constexpr auto name = "exp";
  static constexpr auto equation = "exp(x)";
  HD auto operator()(auto x) const { return exp(x); }
};
inline Variable exp(const Variable& x) { return pointwise(Exponential{}, x); }

struct ExponentialMinusOne {
  static constexpr auto name = "expm1";
  static constexpr auto equation = "exp(x) - 1";
  HD auto operator()(auto x) const { return expm1(x); }
};
inline Variable expm1(const Variable& x) { return pointwise(ExponentialMinusOne{}, x); }

struct Logarithm {
  static constexpr auto name = "log";
  static constexpr auto equation = "log(x)";
  static constexpr Domain domain{0.1, 3};
  HD auto operator()(auto x) const { return log(x); }
};
inline Variable log(const Variable& x) { return pointwise(Logarithm{}, x); }

struct LogarithmOfOnePlus {
  static constexpr auto name = "log1p";
  static constexpr auto equation = "log(1 + x)";
  static constexpr Domain domain{-0.8, 3};
  HD auto operator()(auto x) const { return log1p(x); }
};
inline Variable log1p(const Variable& x) { return pointwise(LogarithmOfOnePlus{}, x); }

struct Tanh {
  static constexpr auto name = "tanh";
  static constexpr auto equation = "tanh(x)";
  HD auto operator()(auto x) const { return tanh(x); }
};
inline Variable tanh(const Variable& x) { return pointwise(Tanh{}, x); }

struct Sigmoid {
  static constexpr auto name = "sigmoid";
  static constexpr auto equation = "1 / (1 + exp(-x))";
  HD auto operator()(auto x) const { return sigmoid(x); }
};
inline Variable sigmoid(const Variable& x) { return pointwise(Sigmoid{}, x); }

struct Relu {
  static constexpr auto name = "relu";
  static constexpr auto equation = "max(x, 0)";
  HD auto operator()(auto x) const { return max(x, 0); }
};
inline Variable relu(const Variable& x) { return pointwise(Relu{}, x); }

struct Softplus {
  static constexpr auto name = "softplus";
  static constexpr auto equation = "log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|))";
  HD auto operator()(auto x) const { return max(x, 0) + log1p(exp(-abs(x))); }
};
inline Variable softplus(const Variable& x) { return pointwise(Softplus{}, x); }

struct LogSigmoid {
  static constexpr auto name = "log_sigmoid";
  static constexpr auto equation = "log(1 / (1 + exp(-x))) = min(x, 0) - log1p(exp(-|x|))";
  HD auto operator()(auto x) const { return min(x, 0) - log1p(exp(-abs(x))); }
};
inline Variable log_sigmoid(const Variable& x) { return pointwise(LogSigmoid{}, x); }

struct LogAddExp {
  static constexpr auto name = "log_add_exp";
  static constexpr auto equation = "log(exp(a) + exp(b)) = max(a, b) + log1p(exp(-|a - b|))";
  HD auto operator()(auto a, auto b) const { return max(a, b) + log1p(exp(-abs(a - b))); }
};
inline Variable log_add_exp(const Variable& a, const Variable& b) { return pointwise(LogAddExp{}, a, b); }

// ---- The gates of recurrent cells: pure pointwise mathematics, once each. Arguments are pre-activations.

/// The two halves of an LSTM, for cells that compute something between them.
struct LstmCellState {
  static constexpr auto name = "lstm_cell_state";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g)";
  HD auto operator()(auto i, auto f, auto g, auto c) const { return sigmoid(f) * c + sigmoid(i) * tanh(g); }
};
struct LstmOutput {
  static constexpr auto name = "lstm_output";
  static constexpr auto equation = "h' = s(o) tanh(c')";
  HD auto operator()(auto o, auto c) const { return sigmoid(o) * tanh(c); }
};

/// Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000. Results: h', c'.
struct LstmGates {
  static constexpr auto name = "lstm_gates";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g); h' = s(o) tanh(c')";
  HD auto operator()(auto i, auto f, auto g, auto o, auto c) const {
    auto next = LstmCellState{}(i, f, g, c);
    return outputs(LstmOutput{}(o, next), next);
  }
};

/// The same with a sigmoid as output activation, as in Maupome & Meurs (7).
struct LstmGatesSigmoid {
  static constexpr auto name = "lstm_gates_sigmoid";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g); h' = s(o) s(c')";
  HD auto operator()(auto i, auto f, auto g, auto o, auto c) const {
    auto next = LstmCellState{}(i, f, g, c);
    return outputs(sigmoid(o) * sigmoid(next), next);
  }
};

/// The state that the candidate of a GRU sees. Cho et al. 2014.
struct GruReset {
  static constexpr auto name = "gru_reset";
  static constexpr auto equation = "s(r) h";
  HD auto operator()(auto r, auto h) const { return sigmoid(r) * h; }
};

/// z keeps the old state, as in PyTorch and cuDNN; some papers write 1 - z for it.
struct GruUpdate {
  static constexpr auto name = "gru_update";
  static constexpr auto equation = "h' = s(z) h + (1 - s(z)) tanh(n)";
  HD auto operator()(auto z, auto n, auto h) const {
    auto candidate = tanh(n);
    return candidate + sigmoid(z) * (h - candidate);
  }
};

/// GRU with the reset after the product, as PyTorch and cuDNN compute it: x* = W x + b, u* = U h + b'.
struct GruResetAfter {
  static constexpr auto name = "gru_reset_after";
  static constexpr auto equation = "n = tanh(xn + s(xr + ur) un); h' = s(xz + uz) h + (1 - s(xz + uz)) n";
  HD auto operator()(auto xr, auto xz, auto xn, auto ur, auto uz, auto un, auto h) const {
    auto candidate = tanh(xn + sigmoid(xr + ur) * un);
    return candidate + sigmoid(xz + uz) * (h - candidate);
  }
};

/// Multiplicative integration of the projections of input and state. Wu et al. 2016 (4); the last four inputs
/// are vectors.
struct MultiplicativeIntegration {
  static constexpr auto name = "multiplicative_integration";
  static constexpr auto equation = "alpha Wx Uh + beta1 Uh + beta2 Wx + b";
  HD auto operator()(auto Wx, auto Uh, auto alpha, auto beta1, auto beta2, auto b) const {
    return (alpha * Wx + beta1) * Uh + beta2 * Wx + b;
  }
};

/// Batch normalisation by given statistics, Ioffe & Szegedy 2015. All inputs except x are vectors; beta may
/// also be a matrix, to which the result is added. See autograd/batch_norm.h for the statistics, and for
/// constant columns.
struct BatchNormalization {
  static constexpr auto name = "batch_normalization";
  static constexpr auto equation =
      "gamma (x - mean) / sqrt(variance + epsilon) + beta; beta where variance < epsilon / 1000";
  static constexpr Domain domain{0.1, 2};
  real epsilon = real(1e-5);
  HD auto operator()(auto x, auto mean, auto variance, auto gamma, auto beta) const {
    auto normalized = (x - mean) / sqrt(variance + epsilon);
    return gamma * select(variance < epsilon / 1000, 0, normalized) + beta;
  }
};

/// A unit whose mask is 0 keeps its state. Krueger et al. 2017 (zoneout).
struct Zoneout {
  static constexpr auto name = "zoneout";
  static constexpr auto equation = "mask > 0 ? new : old";
  HD auto operator()(auto next, auto old, auto mask) const { return select(mask > 0, next, old); }
};

// ---- The list. It feeds the launchers of both backends, the tests and `lm info --operators`.

using Operators = OperatorList<Add, Subtract, Multiply, Divide, Maximum, Minimum, Affine, Clamp, Absolute,
                               Square, SquareRoot, Exponential, ExponentialMinusOne, Logarithm,
                               LogarithmOfOnePlus, Tanh, Sigmoid, Relu, Softplus, LogSigmoid, LogAddExp,
                               LstmCellState, LstmOutput, LstmGates, LstmGatesSigmoid, GruReset, GruUpdate,
                               GruResetAfter, MultiplicativeIntegration, BatchNormalization, Zoneout>;

}  // namespace rondo
