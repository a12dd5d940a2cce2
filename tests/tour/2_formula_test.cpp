// Solutions of docs/tour/2_formula.md.
#include <gtest/gtest.h>

#include <type_traits>

#include "nn/cells/gates.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {
namespace {

struct SoftsignOfTheTour {
  auto operator()(auto x) const { return x / (1 + abs(x)); }
};

TEST(Tour2, ABodyRunsOnADualNumber) {
  const auto y = SoftsignOfTheTour{}(dual_input<0>(Scalar(-3)));
  EXPECT_FLOAT_EQ(static_cast<float>(y.value.value), -0.75f);
  EXPECT_FLOAT_EQ(static_cast<float>(partial<0>(y).value), 1 / 16.0f);
}

TEST(Tour2, TheTypeSaysWhichPartialsThereAre) {
  const Scalar x = 0.5;
  const auto both =
      LstmGates{}(dual_input<0>(x), dual_input<1>(x), dual_input<2>(x), dual_input<3>(x), dual_input<4>(x));
  using H = std::remove_cvref_t<decltype(both.first)>;
  using C = std::remove_cvref_t<decltype(both.rest.first)>;
  // The inputs are i, f, g, o, c, bits 0 to 4. The output gate o, bit 3, does not enter c'.
  static_assert(C::mask == 0b10111);
  static_assert(H::mask == 0b11111);
  EXPECT_EQ(C::count, 4);
}

}  // namespace
}  // namespace rondo
