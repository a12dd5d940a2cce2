// Solutions of docs/tour/2_formula.md.
#pragma once

#include "tensor/error.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo::tour {

/// 2.1: x / (1 + |x|). The body must run on any type of numbers.
struct SoftsignOfTheTour {
  auto operator()(auto x) const { return x / (1 + abs(x)); }
};

/// 2.2: bit j says whether c' of `LstmGates` depends on its input j, of i, f, g, o, c.
constexpr unsigned inputs_of_memory = 0b10111;  // the output gate o, bit 3, does not enter c'

}  // namespace rondo::tour
