// Grades the exercises of docs/tour/2_formula.md.
#include <2_formula.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "nn/cells/gates.h"

namespace rondo::tour {

TEST(Tour2, ABodyRunsOnADualNumber) {
  const auto y = SoftsignOfTheTour{}(dual_input<0>(Scalar(-3)));
  EXPECT_FLOAT_EQ(static_cast<float>(y.value.value), -0.75f);
  EXPECT_FLOAT_EQ(static_cast<float>(partial<0>(y).value), 1 / 16.0f);
  const auto right = SoftsignOfTheTour{}(dual_input<0>(Scalar(1)));
  EXPECT_FLOAT_EQ(static_cast<float>(right.value.value), 0.5f);
  EXPECT_FLOAT_EQ(static_cast<float>(partial<0>(right).value), 0.25f);
}

TEST(Tour2, TheTypeSaysWhichPartialsThereAre) {
  const Scalar x = 0.5;
  const auto both =
      LstmGates{}(dual_input<0>(x), dual_input<1>(x), dual_input<2>(x), dual_input<3>(x), dual_input<4>(x));
  EXPECT_TRUE(inputs_of_memory == std::remove_cvref_t<decltype(both.rest.first)>::mask) << "other bits";
}

}  // namespace rondo::tour
