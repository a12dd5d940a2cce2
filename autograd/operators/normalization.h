// What normalisation does element by element, once its statistics are known (autograd/batch_norm.h,
// autograd/layer_norm.h).
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {

/// Batch normalisation by given statistics, Ioffe & Szegedy 2015. All inputs except x are vectors; beta may
/// also be a matrix, to which the result is added. See autograd/batch_norm.h for the statistics, and for
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
using NormalizationOperators = OperatorList<BatchNormalization, LayerNormalizedSum>;

}  // namespace rondo
