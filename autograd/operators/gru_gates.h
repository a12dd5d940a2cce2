// The gates of the GRU: pure pointwise mathematics, once. Arguments are pre-activations.
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {

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

/// What of this file is launched, tested and documented.
using GruOperators = OperatorList<GruReset, GruUpdate, GruResetAfter>;

}  // namespace rondo
