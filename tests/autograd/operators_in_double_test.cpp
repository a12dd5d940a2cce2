// The gradient check of every pointwise operator on the list. A new operator is checked without an edit here.
#include "tests/autograd/pointwise_cases.h"

namespace rondo {
namespace {

class PointwiseGradient : public testing::TestWithParam<std::string> {
 protected:
  const PointwiseOperator& op() const { return detail::find_operator(GetParam().c_str()); }
};

TEST_P(PointwiseGradient, IsOfAFormulaThatGivesTheKnownValues) {
  EXPECT_GE(op().known.size(), 2u) << "an operator states two known values";
  EXPECT_NO_THROW(detail::compare_known_values(op(), 1e-10));
}

TEST_P(PointwiseGradient, InEachWay) {
  for (const PointwiseCase& it : pointwise_cases(op(), {3, 5})) {
    SCOPED_TRACE(it.name);
    expect_gradients(it.f, it.inputs);
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, PointwiseGradient, testing::ValuesIn(names_of_operators()),
                         [](const auto& instance) { return instance.param; });

TEST(OperatorsOverTime, GiveWhatTheirStepsGiveOneByOne) {
  int found = 0;
  for (const PointwiseOperator& op : pointwise_operators()) {
    if (op.state < 0) continue;
    SCOPED_TRACE(op.name);
    ++found;
    const auto state = static_cast<size_t>(op.state);
    const StepRows steps = steps_of(3);
    std::vector<Shape> shapes(static_cast<size_t>(op.inputs), Shape{9, 5});
    shapes[state] = {3, 5};
    std::vector<Variable> x;
    for (const Tensor& it : samples(shapes, op.domain)) x.emplace_back(it);
    const Variable at_once = concat(apply(op, op.example.data(), x, {}, steps));
    Variable before = x[state];
    int64_t begin = 0;
    for (const int64_t rows : steps) {
      std::vector<Variable> of_step;
      for (size_t k = 0; k < x.size(); ++k)
        of_step.push_back(k == state ? before.slice(0, rows) : x[k].slice(begin, begin + rows));
      const std::vector<Variable> y = apply(op, op.example.data(), of_step);
      EXPECT_EQ(concat(y).value().to_vector(), at_once.value().slice_rows(begin, begin + rows).to_vector());
      before = y.back();
      begin += rows;
    }
  }
  EXPECT_GE(found, 6);
}

TEST(OperatorsOverTime, ErrorsSayWhatWasExpected) {
  const Variable x(Tensor::zeros({4, 2, 3})), h(Tensor::zeros({2, 3}));
  EXPECT_EQ(scan(x, x, h).shape(), x.shape());
  EXPECT_THROW(scan(x, x, x[0].slice(0, 1)), Error);
  EXPECT_THROW(scan(x, x.slice(0, 3), h), Error);
  EXPECT_THROW(scan(h, h, h), Error);
  EXPECT_THROW(scan_into({}, {2, 1}, LinearRecurrence{}, h, h, h), Error);
}

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
