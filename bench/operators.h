// The pointwise operator that the cells of bench/cells.h need beyond Rondo's list.
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/dual.h"

namespace rondo {

/// Multiplicative integration of the input's and the state's share. Wu et al. 2016; the last four are
/// vectors.
struct MultiplicativeIntegration {
  static constexpr auto name = "multiplicative_integration";
  static constexpr auto equation = "alpha Wx Uh + beta1 Uh + beta2 Wx + b";
  HD auto operator()(auto Wx, auto Uh, auto alpha, auto beta1, auto beta2, auto b) const {
    return (alpha * Wx + beta1) * Uh + beta2 * Wx + b;
  }
};

using BenchOperators = OperatorList<MultiplicativeIntegration>;

}  // namespace rondo
