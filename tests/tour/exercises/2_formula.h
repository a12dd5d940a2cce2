// Exercises of docs/tour/2_formula.md.
#pragma once

#include "tensor/error.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo::tour {

/// 2.1: x / (1 + |x|). The body must run on any type of numbers.
struct SoftsignOfTheTour {
  auto operator()(auto x) const {
    throw Error("exercise 2.1 is not written yet");
    return x;
  }
};

/// 2.2: bit j says whether c' of `LstmGates` depends on its input j, of i, f, g, o, c.
constexpr unsigned inputs_of_memory = 0;  // exercise 2.2 is not written yet

}  // namespace rondo::tour
