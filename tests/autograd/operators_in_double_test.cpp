// The gradient check of every pointwise operator on the list. A new operator is checked without an edit here.
#include <algorithm>
#include <cmath>

#include "tests/autograd/pointwise_cases.h"

namespace rondo {
namespace {

class PointwiseGradient : public testing::TestWithParam<std::string> {
 protected:
  const PointwiseOperator& op() const { return detail::find_operator(GetParam().c_str()); }
};

// The gradient check follows the formula, and passes a wrong constant.
TEST_P(PointwiseGradient, IsOfAFormulaThatGivesTheKnownValues) {
  EXPECT_GE(op().known.size(), 2u) << "an operator states two known values";
  for (const KnownValue& known : op().known) {
    std::vector<Variable> inputs;
    for (int j = 0; j < op().inputs; ++j)
      inputs.emplace_back(Tensor::filled({1, 1}, static_cast<real>(known.inputs[j])));
    const std::vector<Variable> y = apply(op(), op().example.data(), inputs);
    for (int k = 0; k < op().outputs; ++k)
      EXPECT_NEAR(y[k].value().item(), known.outputs[k], 1e-10 * std::max(1.0, std::abs(known.outputs[k])))
          << "output " << k;
  }
}

TEST_P(PointwiseGradient, InEachWay) {
  for (const PointwiseCase& it : pointwise_cases(op(), {3, 5})) {
    SCOPED_TRACE(it.name);
    expect_gradients(it.f, it.inputs);
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, PointwiseGradient, testing::ValuesIn(names_of_operators()),
                         [](const auto& instance) { return instance.param; });

TEST(OperatorList, SaysWhatTheTestsAndTheDocumentationNeed) {
  EXPECT_GE(pointwise_operators().size(), 24u);
  for (const PointwiseOperator& op : pointwise_operators()) {
    EXPECT_FALSE(op.equation.empty()) << op.name;
    EXPECT_LT(op.domain.low, op.domain.high) << op.name;
    EXPECT_TRUE(op.inputs >= 1 && op.inputs <= max_pointwise_inputs) << op.name;
    EXPECT_TRUE(op.outputs >= 1 && op.outputs <= max_pointwise_outputs) << op.name;
  }
}

}  // namespace
}  // namespace rondo
