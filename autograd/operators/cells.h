// What cells other than LSTM and GRU compute element by element. Arguments are pre-activations.
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {

/// Multiplicative integration of the projections of input and state. Wu et al. 2016 (4); the last four inputs
/// are vectors.
struct MultiplicativeIntegration {
  static constexpr auto name = "multiplicative_integration";
  static constexpr auto equation = "alpha Wx Uh + beta1 Uh + beta2 Wx + b";
  static constexpr KnownValue known[] = {{{2, 3, 0.5, 0.25, -1, 0.1}, {1.85}},
                                         {{-1, 0.5, 1, 2, 0.5, 0}, {0}}};
  HD auto operator()(auto Wx, auto Uh, auto alpha, auto beta1, auto beta2, auto b) const {
    return (alpha * Wx + beta1) * Uh + beta2 * Wx + b;
  }
};

/// A further flow g beside those that z has integrated, of which f is the first: section 2.1, pairwise. The
/// last two are vectors.
struct IntegrateFlow {
  static constexpr auto name = "integrate_flow";
  static constexpr auto equation = "z + (alpha f + beta) g";
  static constexpr KnownValue known[] = {{{1, 2, 3, 0.5, 0.25}, {4.75}}, {{-1, 0.5, 2, -2, 3}, {3}}};
  HD auto operator()(auto z, auto f, auto g, auto alpha, auto beta) const {
    return z + (alpha * f + beta) * g;
  }
};
/// The same of a further pair of flows; alpha is a vector.
struct IntegratePair {
  static constexpr auto name = "integrate_pair";
  static constexpr auto equation = "z + alpha f g";
  static constexpr KnownValue known[] = {{{1, 2, 3, 0.5}, {4}}, {{-1, 0.5, 2, -2}, {-3}}};
  HD auto operator()(auto z, auto f, auto g, auto alpha) const { return z + alpha * f * g; }
};

/// How a Mogrifier scales input or state by the other. Melis et al. 2020 (1), (2).
struct Mogrify {
  static constexpr auto name = "mogrify";
  static constexpr auto equation = "2 s(q) x";
  static constexpr auto arguments = "q x";
  static constexpr KnownValue known[] = {{{1, 0.5}, {0.73105857863}}, {{-2, -1}, {-0.238405844044}}};
  HD auto operator()(auto q, auto x) const { return 2 * sigmoid(q) * x; }
};

/// A step of recurrent depth with coupled gates: what t lets in, 1 - t keeps. Zilly et al. 2017 (6)-(9).
struct HighwayUpdate {
  static constexpr auto name = "highway_update";
  static constexpr auto equation = "s(t) tanh(n) + (1 - s(t)) h";
  static constexpr auto arguments = "n t h";
  static constexpr KnownValue known[] = {{{0.5, 1, 2}, {0.875717554887}}, {{-1, -2, 0.25}, {0.12941502071}}};
  HD auto operator()(auto n, auto t, auto h) const { return h + sigmoid(t) * (tanh(n) - h); }
};

/// A simple recurrent unit, whose gates see c in place of h. Lei et al. 2018 (1)-(4), with the highway's
/// input scaled by alpha (section 3.2). Results: h', c'. The last four are vectors.
struct SruGates {
  static constexpr auto name = "sru_gates";
  static constexpr auto equation =
      "F = s(f + vf c + bf); c' = F c + (1 - F) w; R = s(r + vr c + br); h' = R c' + (1 - R) alpha x";
  static constexpr auto arguments = "w f r x c vf vr bf br";
  static constexpr KnownValue known[] = {
      {{0.5, 1, -1, 2, 0.25, 0.5, -0.5, 0.1, -0.1}, {2.38848001773, 0.306764435151}},
      {{-1, -0.5, 2, 0.5, -2, 1, 0.25, 0, 0.3}, {-0.816858252828, -1.07585818002}}};
  real alpha = real(1.5);
  HD auto operator()(auto w, auto f, auto r, auto x, auto c, auto vf, auto vr, auto bf, auto br) const {
    auto forget = sigmoid(f + vf * c + bf);
    auto reset = sigmoid(r + vr * c + br);
    auto next = w + forget * (c - w);
    auto highway = alpha * x;
    return outputs(highway + reset * (next - highway), next);
  }
};

/// The pooling of a quasi-recurrent network, fo: no gate sees the state. Bradbury et al. 2017 (4). Results:
/// h', c'.
struct QrnnGates {
  static constexpr auto name = "qrnn_gates";
  static constexpr auto equation = "c' = s(f) c + (1 - s(f)) tanh(z); h' = s(o) c'";
  static constexpr auto arguments = "z f o c";
  static constexpr KnownValue known[] = {{{0.5, 1, -1, 2}, {0.426648563923, 1.58639960237}},
                                         {{-1, -0.5, 2, 0.25}, {-0.334417706707, -0.379676221764}}};
  HD auto operator()(auto z, auto f, auto o, auto c) const {
    auto candidate = tanh(z);
    auto next = candidate + sigmoid(f) * (c - candidate);
    return outputs(sigmoid(o) * next, next);
  }
};

/// What of this file is launched, tested and documented.
using CellOperators = OperatorList<MultiplicativeIntegration, IntegrateFlow, IntegratePair, Mogrify,
                                   HighwayUpdate, SruGates, QrnnGates>;

}  // namespace rondo
