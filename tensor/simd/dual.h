// Dual: a value with its partial derivatives, but only those that can be nonzero; which ones is part of its
// type. An operator's body, run on duals, differentiates itself: forward mode inside an operator, reverse
// mode between operators. Next: tensor/kernels/pointwise_kernels.h.
#pragma once

#include <utility>

#include "tensor/backend.h"

namespace rondo {

/// S is Vec or Scalar; bit j of Mask says that the derivative with respect to input j is carried, in
/// `partials[slot<j>]`.
template <class S, unsigned Mask>
struct Dual {
  static constexpr unsigned mask = Mask;
  static constexpr int count = __builtin_popcount(Mask);
  template <int J>
  static constexpr int slot = __builtin_popcount(Mask&((1u << J) - 1));
  using Constant = Dual<S, 0u>;  // carries no partials

  S value;
  S partials[count > 0 ? count : 1];

  HD friend auto operator-(const Dual& a) { return chain(a, -a.value, S(-1)); }

  // With a literal: the parameter is real, so that 0.5 * x stays in the library's number type.
  HD friend auto operator+(const Dual& a, real b) { return a + Constant{S(b), {}}; }
  HD friend auto operator+(real a, const Dual& b) { return Constant{S(a), {}} + b; }
  HD friend auto operator-(const Dual& a, real b) { return a - Constant{S(b), {}}; }
  HD friend auto operator-(real a, const Dual& b) { return Constant{S(a), {}} - b; }
  HD friend auto operator*(const Dual& a, real b) { return chain(a, a.value * S(b), S(b)); }
  HD friend auto operator*(real a, const Dual& b) { return b * a; }
  HD friend auto operator/(const Dual& a, real b) { return chain(a, a.value / S(b), S(1) / S(b)); }
  HD friend auto operator/(real a, const Dual& b) { return Constant{S(a), {}} / b; }

  // Comparisons compare values.
  HD friend auto operator<(const Dual& a, real b) { return a.value < S(b); }
  HD friend auto operator<=(const Dual& a, real b) { return a.value <= S(b); }
  HD friend auto operator>(const Dual& a, real b) { return a.value > S(b); }
  HD friend auto operator>=(const Dual& a, real b) { return a.value >= S(b); }
  HD friend auto operator==(const Dual& a, real b) { return a.value == S(b); }

  HD friend auto max(const Dual& a, real b) { return max(a, Constant{S(b), {}}); }
  HD friend auto min(const Dual& a, real b) { return min(a, Constant{S(b), {}}); }
  HD friend auto abs(const Dual& a) { return chain(a, abs(a.value), select(a.value >= S(0), S(1), S(-1))); }
  HD friend auto sqrt(const Dual& a) {
    const S y = sqrt(a.value);
    return chain(a, y, S(0.5) / y);
  }
  HD friend auto exp(const Dual& a) {
    const S y = exp(a.value);
    return chain(a, y, y);
  }
  HD friend auto log(const Dual& a) { return chain(a, log(a.value), S(1) / a.value); }
  HD friend auto log1p(const Dual& a) { return chain(a, log1p(a.value), S(1) / (S(1) + a.value)); }
  HD friend auto tanh(const Dual& a) {
    const S y = tanh(a.value);
    return chain(a, y, S(1) - y * y);
  }
  HD friend auto sigmoid(const Dual& a) {
    const S y = sigmoid(a.value);
    return chain(a, y, y * (S(1) - y));
  }
};

/// Input J of an operator: its derivative with respect to itself is 1.
template <int J, class S>
HD auto dual_input(S value) {
  Dual<S, 1u << J> x;
  x.value = value;
  x.partials[0] = S(1);
  return x;
}

namespace detail {
/// partials[j] = left(a's partial j) + right(b's partial j), for each j that either of them carries.
template <class S, unsigned A, unsigned B, class Left, class Right, int... J>
HD void merge(Dual<S, A | B>& y, const Dual<S, A>& a, const Dual<S, B>& b, Left left, Right right,
              std::integer_sequence<int, J...>) {
  (
      [&] {
        constexpr bool in_a = (A >> J) & 1, in_b = (B >> J) & 1;
        constexpr int to = Dual<S, A | B>::template slot<J>;
        if constexpr (in_a && in_b)
          y.partials[to] = left(a.partials[Dual<S, A>::template slot<J>]) +
                           right(b.partials[Dual<S, B>::template slot<J>]);
        else if constexpr (in_a)
          y.partials[to] = left(a.partials[Dual<S, A>::template slot<J>]);
        else if constexpr (in_b)
          y.partials[to] = right(b.partials[Dual<S, B>::template slot<J>]);
      }(),
      ...);
}
constexpr int max_inputs = 16;
using EveryInput = std::make_integer_sequence<int, max_inputs>;
}  // namespace detail

/// y = f(a, b) from its value and the rules that map the partials of a and of b to those of y.
template <class S, unsigned A, unsigned B, class Left, class Right>
HD auto combine(S value, const Dual<S, A>& a, const Dual<S, B>& b, Left left, Right right) {
  Dual<S, A | B> y;
  y.value = value;
  detail::merge(y, a, b, left, right, detail::EveryInput{});
  return y;
}

/// y = f(a) with f'(a) = slope.
template <class S, unsigned A>
HD auto chain(const Dual<S, A>& a, S value, S slope) {
  Dual<S, A> y;
  y.value = value;
  for (int k = 0; k < Dual<S, A>::count; ++k) y.partials[k] = a.partials[k] * slope;
  return y;
}

template <class S, unsigned A, unsigned B>
HD auto operator+(const Dual<S, A>& a, const Dual<S, B>& b) {
  auto same = [](S d) { return d; };
  return combine(a.value + b.value, a, b, same, same);
}
template <class S, unsigned A, unsigned B>
HD auto operator-(const Dual<S, A>& a, const Dual<S, B>& b) {
  return combine(
      a.value - b.value, a, b, [](S d) { return d; }, [](S d) { return -d; });
}
template <class S, unsigned A, unsigned B>
HD auto operator*(const Dual<S, A>& a, const Dual<S, B>& b) {
  return combine(
      a.value * b.value, a, b, [&](S d) { return d * b.value; }, [&](S d) { return a.value * d; });
}
template <class S, unsigned A, unsigned B>
HD auto operator/(const Dual<S, A>& a, const Dual<S, B>& b) {
  const S inverse = S(1) / b.value;
  const S quotient = a.value / b.value;
  return combine(
      quotient, a, b, [&](S d) { return d * inverse; }, [&](S d) { return -(d * quotient * inverse); });
}
template <class S, unsigned A, unsigned B>
HD auto operator<(const Dual<S, A>& a, const Dual<S, B>& b) {
  return a.value < b.value;
}
template <class S, unsigned A, unsigned B>
HD auto operator<=(const Dual<S, A>& a, const Dual<S, B>& b) {
  return a.value <= b.value;
}
template <class S, unsigned A, unsigned B>
HD auto operator>(const Dual<S, A>& a, const Dual<S, B>& b) {
  return a.value > b.value;
}
template <class S, unsigned A, unsigned B>
HD auto operator>=(const Dual<S, A>& a, const Dual<S, B>& b) {
  return a.value >= b.value;
}
template <class S, unsigned A, unsigned B>
HD auto operator==(const Dual<S, A>& a, const Dual<S, B>& b) {
  return a.value == b.value;
}
template <class M, class S, unsigned A, unsigned B>
HD auto select(const M& condition, const Dual<S, A>& a, const Dual<S, B>& b) {
  return combine(
      select(condition, a.value, b.value), a, b, [&](S d) { return select(condition, d, S(0)); },
      [&](S d) { return select(condition, S(0), d); });
}
template <class M, class S, unsigned A>
HD auto select(const M& condition, const Dual<S, A>& a, real b) {
  return select(condition, a, Dual<S, 0u>{S(b), {}});
}
template <class M, class S, unsigned A>
HD auto select(const M& condition, real a, const Dual<S, A>& b) {
  return select(condition, Dual<S, 0u>{S(a), {}}, b);
}
/// On a tie, max and min give the gradient to the first operand.
template <class S, unsigned A, unsigned B>
HD auto max(const Dual<S, A>& a, const Dual<S, B>& b) {
  return select(a.value >= b.value, a, b);
}
template <class S, unsigned A, unsigned B>
HD auto min(const Dual<S, A>& a, const Dual<S, B>& b) {
  return select(a.value <= b.value, a, b);
}

/// The derivative with respect to input J, or zero if the type carries none.
template <int J, class S, unsigned A>
HD S partial(const Dual<S, A>& y) {
  if constexpr ((A >> J) & 1)
    return y.partials[Dual<S, A>::template slot<J>];
  else
    return S(0);
}

}  // namespace rondo
