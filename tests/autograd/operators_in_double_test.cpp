// The gradient check of every pointwise operator on the list. A new operator is checked without an edit here.
#include "autograd/operators.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "autograd/functions.h"
#include "tests/autograd/samples.h"

namespace rondo {
namespace {

class PointwiseGradient : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int64_t rows = 3, columns = 5;

  const PointwiseOperator& op() const { return detail::find_operator(GetParam().c_str()); }
  Variable output(int k, const std::vector<Variable>& inputs) const {
    return apply(op(), op().example.data(), inputs)[k];
  }
  /// All outputs side by side.
  Variable outputs(const std::vector<Variable>& inputs) const {
    return concat(apply(op(), op().example.data(), inputs));
  }
  std::vector<Tensor> matrices() const {
    return samples(std::vector<Shape>(op().inputs, {rows, columns}), op().domain);
  }
};

/// What only operators of two inputs or more can be asked.
class PointwiseGradientOfSeveral : public PointwiseGradient {};

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

TEST_P(PointwiseGradient, OfEachOutput) {
  for (int k = 0; k < op().outputs; ++k)
    expect_gradients([&](const std::vector<Variable>& x) { return output(k, x); }, matrices());
}

TEST_P(PointwiseGradient, OfAllOutputsAtOnce) {
  expect_gradients([&](const std::vector<Variable>& x) { return outputs(x); }, matrices());
}

TEST_P(PointwiseGradientOfSeveral, WithEachInputRepeatedForAllRows) {
  for (int j = 0; j < op().inputs; ++j) {
    std::vector<Shape> shapes(op().inputs, {rows, columns});
    shapes[j] = {columns};
    expect_gradients([&](const std::vector<Variable>& x) { return outputs(x); },
                     samples(shapes, op().domain));
  }
}

// Values that nobody else holds: their gradients overwrite them.
TEST_P(PointwiseGradient, OfInputsThatAreComputed) {
  expect_gradients(
      [&](const std::vector<Variable>& x) {
        std::vector<Variable> computed;
        for (const Variable& input : x) computed.push_back(input * real(1));
        return outputs(computed);
      },
      matrices());
}

TEST_P(PointwiseGradient, OfColumnBlocks) {
  expect_gradients(
      [&](const std::vector<Variable>& wide) {
        std::vector<Variable> x;
        for (int j = 0; j < op().inputs; ++j)
          x.push_back(wide[0].slice_columns(j * columns, (j + 1) * columns));
        return outputs(x);
      },
      samples({{rows, op().inputs * columns}}, op().domain));
}

TEST_P(PointwiseGradientOfSeveral, OfOneVariableGivenTwice) {
  for (int j = 1; j < op().inputs; ++j)
    expect_gradients(
        [&](std::vector<Variable> x) {
          x[j] = x[0];
          return outputs(x);
        },
        matrices());
}

TEST_P(PointwiseGradientOfSeveral, OfOverlappingBlocksOfOneVariable) {
  std::vector<Shape> shapes(op().inputs, {rows, columns});
  shapes.push_back({rows, columns + 2});
  for (int j = 1; j < op().inputs; ++j)
    expect_gradients(
        [&](std::vector<Variable> x) {
          const Variable wide = x.back();
          x.pop_back();
          x[0] = wide.slice_columns(0, columns);
          x[j] = wide.slice_columns(2, 2 + columns);
          return outputs(x);
        },
        samples(shapes, op().domain));
}

TEST_P(PointwiseGradientOfSeveral, WithEachInputConstant) {
  for (int j = 0; j < op().inputs; ++j) {
    std::vector<Tensor> inputs = matrices();
    const Variable constant(inputs[j]);
    inputs.erase(inputs.begin() + j);
    expect_gradients(
        [&](std::vector<Variable> x) {
          x.insert(x.begin() + j, constant);
          return outputs(x);
        },
        inputs);
  }
}

std::vector<std::string> operators(int least_inputs) {
  std::vector<std::string> some;
  for (const PointwiseOperator& op : pointwise_operators())
    if (op.inputs >= least_inputs) some.push_back(op.name);
  return some;
}
std::string name_of(const testing::TestParamInfo<std::string>& instance) { return instance.param; }

INSTANTIATE_TEST_SUITE_P(Operators, PointwiseGradient, testing::ValuesIn(operators(1)), name_of);
INSTANTIATE_TEST_SUITE_P(Operators, PointwiseGradientOfSeveral, testing::ValuesIn(operators(2)), name_of);

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
