// The pointwise operator of docs/extending.md: a formula, the function that users call, and the list of a
// program that uses Rondo. Inside Rondo, one edits a file of autograd/operators/ and nothing else. Next:
// tests/examples/other_operator_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autograd/functions.h"
#include "autograd/operators.h"
#include "tensor/kernels/operator_entries.h"

using namespace rondo;

namespace {

/// Like tanh, with slower tails. Glorot & Bengio 2010.
struct Softsign {
  static constexpr auto name = "softsign";
  static constexpr auto equation = "x / (1 + |x|)";
  static constexpr KnownValue known[] = {{{1}, {0.5}}, {{-3}, {-0.75}}};
  HD auto operator()(auto x) const { return x / (1 + abs(x)); }
};
inline Variable softsign(const Variable& x) { return pointwise(Softsign{}, x); }

void know_own_operators() { add_pointwise_operators(cpu::operator_entries(OperatorList<Softsign>{})); }

// Before main(), when GoogleTest has not yet asked for the list: the gradient check of all operators
// (tests/autograd/operators_in_double_test.cpp) then finds this one too. A static library must not do so, a
// program may.
const bool known = (know_own_operators(), true);

TEST(ExamplePointwiseOperator, HasItsValueAndItsDerivative) {
  ASSERT_TRUE(known);
  const std::vector<real> points = {-3, -0.5, 0.25, 1, 7};  // more or fewer than a SIMD register holds
  const Tensor gradient = Tensor::zeros({5});
  const Variable x = Variable::leaf(Tensor::from(points, {5}), gradient);
  const Variable y = softsign(x);
  sum(y).backward();
  for (int i = 0; i < 5; ++i) {
    const double divisor = 1 + std::abs(points[i]);
    EXPECT_NEAR(y.value().data()[i], points[i] / divisor, 1e-6);
    EXPECT_NEAR(gradient.data()[i], 1 / (divisor * divisor), 1e-6);
  }
}

TEST(ExamplePointwiseOperator, IsOnTheListWithItsEquation) {
  ASSERT_TRUE(known);
  const auto& all = pointwise_operators();
  const auto it = std::ranges::find_if(all, [](const auto& op) { return op.name == "softsign"; });
  ASSERT_NE(it, all.end());
  EXPECT_EQ(it->equation, "x / (1 + |x|)");
  EXPECT_EQ(it->inputs, 1);
}

TEST(ExamplePointwiseOperator, IsRefusedASecondTime) { EXPECT_THROW(know_own_operators(), Error); }

}  // namespace
