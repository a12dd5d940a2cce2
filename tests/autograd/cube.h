// An operator of another program: this test's. Its launchers are made in cube.cpp, as a program's .cc would
// make them.
#pragma once

#include <vector>

#include "autograd/pointwise.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {

struct CubeAndScaled {
  static constexpr auto name = "test_cube_and_scaled";
  static constexpr auto equation = "x * x * x; factor * x * y";
  real factor = 2;
  HD auto operator()(auto x, auto y) const { return outputs(x * x * x, factor * x * y); }
};

std::vector<PointwiseOperator> cube_operators();

}  // namespace rondo
