// What cells compute element by element, once each: pure pointwise mathematics. Arguments are
// pre-activations. To add one, write it here and put it on the list at the end: its derivative, SIMD loop,
// CUDA kernel, gradient check and documentation row follow from that (autograd/operators.h). Next:
// nn/cells/rnn.h.
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {

/// The two halves of an LSTM, for cells that compute something between them.
struct LstmCellState {
  static constexpr auto name = "lstm_cell_state";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g)";
  static constexpr auto arguments = "i f g c";
  static constexpr KnownValue known[] = {{{1, -1, 0.5, 2}, {0.875717554887}},
                                         {{-0.5, 2, -1, -0.75}, {-0.948130575476}}};
  HD auto operator()(auto i, auto f, auto g, auto c) const { return sigmoid(f) * c + sigmoid(i) * tanh(g); }
};

struct LstmOutput {
  static constexpr auto name = "lstm_output";
  static constexpr auto equation = "h' = s(o) tanh(c')";
  static constexpr auto arguments = "o c'";
  static constexpr KnownValue known[] = {{{1, 0.5}, {0.337834712147}}, {{-2, -1}, {-0.0907842487849}}};
  HD auto operator()(auto o, auto c) const { return sigmoid(o) * tanh(c); }
};

/// Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000. Results: h', c'.
struct LstmGates {
  static constexpr auto name = "lstm_gates";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g); h' = s(o) tanh(c')";
  static constexpr auto arguments = "i f g o c";
  static constexpr KnownValue known[] = {{{1, -1, 0.5, 2, -0.75}, {0.119166529515, 0.13612864612}},
                                         {{-0.5, 2, -1, 0, 1.5}, {0.387686612467, 1.03366284997}}};
  HD auto operator()(auto i, auto f, auto g, auto o, auto c) const {
    auto next = LstmCellState{}(i, f, g, c);
    return outputs(LstmOutput{}(o, next), next);
  }
};

/// The same with a sigmoid as output activation, as in Maupome & Meurs (7).
struct LstmGatesSigmoid {
  static constexpr auto name = "lstm_gates_sigmoid";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g); h' = s(o) s(c')";
  static constexpr auto arguments = "i f g o c";
  static constexpr KnownValue known[] = {{{1, -1, 0.5, 2, -0.75}, {0.470327763464, 0.13612864612}},
                                         {{-0.5, 2, -1, 0, 1.5}, {0.368812699605, 1.03366284997}}};
  HD auto operator()(auto i, auto f, auto g, auto o, auto c) const {
    auto next = LstmCellState{}(i, f, g, c);
    return outputs(sigmoid(o) * sigmoid(next), next);
  }
};

/// The state that the candidate of a GRU sees. Cho et al. 2014.
struct GruReset {
  static constexpr auto name = "gru_reset";
  static constexpr auto equation = "s(r) h";
  static constexpr auto arguments = "r h";
  static constexpr KnownValue known[] = {{{1, 2}, {1.46211715726}}, {{-0.5, -1}, {-0.377540668798}}};
  HD auto operator()(auto r, auto h) const { return sigmoid(r) * h; }
};

/// z keeps the old state, as in PyTorch and cuDNN; some papers write 1 - z for it.
struct GruUpdate {
  static constexpr auto name = "gru_update";
  static constexpr auto equation = "h' = s(z) h + (1 - s(z)) tanh(n)";
  static constexpr auto arguments = "z n h";
  static constexpr KnownValue known[] = {{{1, 0.5, 2}, {1.58639960237}}, {{-2, -1, 0.25}, {-0.641009176665}}};
  HD auto operator()(auto z, auto n, auto h) const {
    auto candidate = tanh(n);
    return candidate + sigmoid(z) * (h - candidate);
  }
};

/// GRU with the reset after the product, as PyTorch and cuDNN compute it: x* = W x + b, u* = U h + b'.
struct GruResetAfter {
  static constexpr auto name = "gru_reset_after";
  static constexpr auto equation = "n = tanh(xn + s(xr + ur) un); h' = s(xz + uz) h + (1 - s(xz + uz)) n";
  static constexpr auto arguments = "xr xz xn ur uz un h";
  static constexpr KnownValue known[] = {{{0.5, 1, -1, 0.25, -2, 0.75, 2}, {0.205466714319}},
                                         {{-1, 0, 0.5, 2, 1, -0.5, -0.25}, {-0.146816316852}}};
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
  static constexpr KnownValue known[] = {{{2, 3, 0.5, 0.25, -1, 0.1}, {1.85}},
                                         {{-1, 0.5, 1, 2, 0.5, 0}, {0}}};
  HD auto operator()(auto Wx, auto Uh, auto alpha, auto beta1, auto beta2, auto b) const {
    return (alpha * Wx + beta1) * Uh + beta2 * Wx + b;
  }
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
  static constexpr int state = 4;
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
  static constexpr int state = 3;
  static constexpr KnownValue known[] = {{{0.5, 1, -1, 2}, {0.426648563923, 1.58639960237}},
                                         {{-1, -0.5, 2, 0.25}, {-0.334417706707, -0.379676221764}}};
  HD auto operator()(auto z, auto f, auto o, auto c) const {
    auto candidate = tanh(z);
    auto next = candidate + sigmoid(f) * (c - candidate);
    return outputs(sigmoid(o) * next, next);
  }
};

/// g of the minimal cells: positive and continuous, linear above 0. Feng et al. 2024, appendix B.3.
HD auto positive_candidate(auto x) { return select(x >= 0, x + real(0.5), sigmoid(x)); }

/// Feng et al. 2024, "Were RNNs All We Needed?", minGRU; z lets the candidate in.
struct MinimalGruGates {
  static constexpr auto name = "minimal_gru_gates";
  static constexpr auto equation = "h' = (1 - s(z)) h + s(z) g(n); g(x) = x + 0.5 if x >= 0, else s(x)";
  static constexpr auto arguments = "z n h";
  static constexpr int state = 2;
  static constexpr KnownValue known[] = {{{1, 0.5, 2}, {1.26894142137}}, {{-2, -1, 0.25}, {0.252257872775}}};
  HD auto operator()(auto z, auto n, auto h) const { return h + sigmoid(z) * (positive_candidate(n) - h); }
};

/// log s(x), also where s(x) is 0.
HD auto log_sigmoid(auto x) { return select(x < 0, x, real(0)) - log1p(exp(-abs(x))); }

/// Feng et al. 2024, minLSTM: both gates over their sum.
struct MinimalLstmGates {
  static constexpr auto name = "minimal_lstm_gates";
  static constexpr auto equation = "F = s(f) / (s(f) + s(i)); h' = F h + (1 - F) g(n)";
  static constexpr auto arguments = "f i n h";
  static constexpr int state = 3;
  static constexpr KnownValue known[] = {{{1, -1, 0.5, 2}, {1.73105857863}},
                                         {{-0.5, 2, -1, -0.75}, {-0.0367728645407}}};
  HD auto operator()(auto f, auto i, auto n, auto h) const {
    auto candidate = positive_candidate(n);
    return candidate + sigmoid(log_sigmoid(f) - log_sigmoid(i)) * (h - candidate);
  }
};

/// De et al. 2024, "Griffin" (1)-(4): the real-gated linear recurrent unit. a is s(lambda) to the power of
/// 8 s(r). 1 - a a is at least 2.5e-7, so that its root has a gradient of 1000 at most. lambda is a vector.
struct RealGatedLinear {
  static constexpr auto name = "real_gated_linear";
  static constexpr auto equation = "a = exp(-8 s(r) log(1 + exp(-lambda))); h' = a h + sqrt(1 - a a) s(i) x";
  static constexpr auto arguments = "r i x lambda h";
  static constexpr int state = 4;
  static constexpr KnownValue known[] = {{{1, -1, 0.5, 2, 0.25}, {0.237259879272}},
                                         {{-0.5, 2, -1, -0.75, 1.5}, {-0.831938430514}}};
  HD auto operator()(auto r, auto i, auto x, auto lambda, auto h) const {
    auto a = exp(8 * sigmoid(r) * log_sigmoid(lambda));
    return a * h + sqrt(max(1 - a * a, real(2.5e-7))) * sigmoid(i) * x;
  }
};

/// A convolution over four steps, unit by unit: of x and of the inputs one, two and three steps before. The
/// last five are vectors.
struct WeightedWindow {
  static constexpr auto name = "weighted_window";
  static constexpr auto equation = "w0 x0 + w1 x1 + w2 x2 + w3 x3 + b";
  static constexpr KnownValue known[] = {{{1, 2, 3, 4, 0.5, -1, 2, 0.25, 0.1}, {5.6}},
                                         {{-1, 0.5, 2, 0, 1, 2, -0.5, 3, 1}, {0}}};
  HD auto operator()(auto x0, auto x1, auto x2, auto x3, auto w0, auto w1, auto w2, auto w3, auto b) const {
    return w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3 + b;
  }
};

/// Beck et al. 2024, "xLSTM" (8)-(17), sLSTM: exponential input gate, normaliser n, and m, which keeps the
/// exponentials small and cancels out; where n is 0, nothing was stored yet. Results: h', c', n', m'.
struct ScalarLstmGates {
  static constexpr auto name = "scalar_lstm_gates";
  static constexpr auto equation =
      "F = log s(f) + m; m' = max(F, i), or i if n = 0; c' = exp(F - m') c + exp(i - m') tanh(z); "
      "n' = exp(F - m') n + exp(i - m'); h' = s(o) c' / n'";
  static constexpr auto arguments = "i f z o c n m";
  static constexpr Domain domain{0.1, 2};
  static constexpr KnownValue known[] = {
      {{1, -1, 0.5, 2, -0.75, 1.5, 0.25}, {0.271393492466, 0.366837958184, 1.19055839815, 1}},
      {{-0.5, 2, -1, 0, 1.5, 0.5, -2}, {-0.212514765468, -0.466795566355, 1.09826619653, -0.5}}};
  HD auto operator()(auto i, auto f, auto z, auto o, auto c, auto n, auto m) const {
    auto kept = m + log_sigmoid(f);
    auto largest = select(n > 0, max(kept, i), i);
    auto forget = exp(min(kept - largest, 80));  // finite where n is 0: it multiplies zeros there
    auto input = exp(i - largest);
    auto next = forget * c + input * tanh(z);
    auto normalizer = forget * n + input;
    return outputs(sigmoid(o) * next / normalizer, next, normalizer, largest);
  }
};

/// The sum of two layer-normalised terms: LN(W x) + LN(U h), Ba et al. 2016. The last four are
/// vectors.
struct LayerNormalizedSum {
  static constexpr auto name = "layer_normalized_sum";
  static constexpr auto equation = "gain_x x + gain_u u + shift_x + shift_u";
  static constexpr KnownValue known[] = {{{1, 2, 0.5, 0.25, -1, 0.1}, {0.1}},
                                         {{-0.5, 1, 2, 1, 0.5, 0.25}, {0.75}}};
  HD auto operator()(auto x, auto u, auto gain_x, auto gain_u, auto shift_x, auto shift_u) const {
    return gain_x * x + gain_u * u + shift_x + shift_u;
  }
};

/// What of this file is launched, tested and documented.
using Gates =
    OperatorList<LstmCellState, LstmOutput, LstmGates, LstmGatesSigmoid, GruReset, GruUpdate, GruResetAfter,
                 MultiplicativeIntegration, Mogrify, HighwayUpdate, SruGates, QrnnGates, MinimalGruGates,
                 MinimalLstmGates, RealGatedLinear, WeightedWindow, ScalarLstmGates, LayerNormalizedSum>;

}  // namespace rondo
