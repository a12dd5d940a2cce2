// Every pointwise operator on the list, on both devices. A new operator is compared without an edit here.
#include <limits>

#include "tests/cuda/device.h"

namespace rondo {
namespace {

class PointwiseOnGpu : public testing::TestWithParam<std::string> {
 protected:
  const PointwiseOperator& op() const { return detail::find_operator(GetParam().c_str()); }
  size_t inputs() const { return static_cast<size_t>(op().inputs); }
  /// All outputs side by side.
  Function all_outputs() const {
    return [this](const std::vector<Variable>& x) { return concat(apply(op(), op().example.data(), x)); };
  }
  std::vector<Tensor> matrices(const Shape& shape) const {
    return samples(std::vector<Shape>(inputs(), shape), op().domain);
  }
};

/// What only operators of two inputs or more can be asked.
class PointwiseOfSeveralOnGpu : public PointwiseOnGpu {};

TEST_P(PointwiseOnGpu, OfAwkwardShapes) {
  NEED_GPU();
  for (const Shape& shape : awkward_shapes) {
    SCOPED_TRACE(fmt::format("{}", shape));
    expect_same_on_both(all_outputs(), matrices(shape));
  }
}

// The others' gradients are zero, and not there.
TEST_P(PointwiseOnGpu, OfEachOutputAlone) {
  NEED_GPU();
  for (size_t k = 0; k < static_cast<size_t>(op().outputs); ++k)
    expect_same_on_both(
        [&](const std::vector<Variable>& x) { return apply(op(), op().example.data(), x)[k]; },
        matrices({3, 101}));
}

// Values that nobody else holds: their gradients overwrite them.
TEST_P(PointwiseOnGpu, OfInputsThatAreComputed) {
  NEED_GPU();
  expect_same_on_both(
      [&](const std::vector<Variable>& x) {
        std::vector<Variable> computed;
        for (const Variable& input : x) computed.push_back(input * real(1));
        return all_outputs()(computed);
      },
      matrices({3, 101}));
}

TEST_P(PointwiseOnGpu, OfColumnBlocks) {
  NEED_GPU();
  constexpr int64_t columns = 130;
  expect_same_on_both(
      [&](const std::vector<Variable>& wide) {
        std::vector<Variable> x;
        for (int64_t j = 0; j < op().inputs; ++j)
          x.push_back(wide[0].slice_columns(j * columns, (j + 1) * columns));
        return all_outputs()(x);
      },
      samples({{3, op().inputs * columns + 1}}, op().domain));
}

// What a training that diverges computes with: the same infinities and NaN, at the same places.
TEST_P(PointwiseOnGpu, OfWhatIsNotOrdinary) {
  NEED_GPU();
  constexpr real infinity = std::numeric_limits<real>::infinity();
  const std::vector<real> extremes = {0,     real(-0.0), real(1e-30), -1,  1,        -20,      20,
                                      -1000, 1000,       real(1e30),  NAN, infinity, -infinity};
  const auto count = static_cast<int64_t>(extremes.size());
  const Tensor ordinary =
      Tensor::filled({count}, static_cast<real>((op().domain.low + op().domain.high) / 2));
  for (size_t j = 0; j < inputs(); ++j) {
    std::vector<Tensor> x(inputs(), ordinary);
    x[j] = Tensor::from(extremes, {count});
    const auto on = [&](Device device) {
      std::vector<Variable> there;
      for (const Tensor& it : x) there.emplace_back(it.to(device));
      return all_outputs()(there).value().to_vector();
    };
    expect_same(on(Device::cuda), on(Device::cpu), fmt::format("input {}", j));
  }
}

TEST_P(PointwiseOfSeveralOnGpu, WithEachInputRepeatedForAllRows) {
  NEED_GPU();
  for (size_t j = 0; j < inputs(); ++j) {
    std::vector<Shape> shapes(inputs(), {7, 259});
    shapes[j] = {259};
    expect_same_on_both(all_outputs(), samples(shapes, op().domain));
  }
}

TEST_P(PointwiseOfSeveralOnGpu, WithEachInputConstant) {
  NEED_GPU();
  for (size_t j = 0; j < inputs(); ++j) {
    std::vector<Tensor> x = matrices({3, 101});
    const Tensor constant = x[j];
    x.erase(x.begin() + static_cast<std::ptrdiff_t>(j));
    expect_same_on_both(
        [&](std::vector<Variable> given) {
          given.insert(given.begin() + static_cast<std::ptrdiff_t>(j),
                       Variable(constant.to(given[0].value().device())));
          return all_outputs()(given);
        },
        x);
  }
}

// Ties, and gradients that come together.
TEST_P(PointwiseOfSeveralOnGpu, OfOneVariableGivenTwice) {
  NEED_GPU();
  for (size_t j = 1; j < inputs(); ++j)
    expect_same_on_both(
        [&](std::vector<Variable> x) {
          x[j] = x[0];
          return all_outputs()(x);
        },
        matrices({3, 101}));
}

std::vector<std::string> operators(int least_inputs) {
  std::vector<std::string> some;
  for (const PointwiseOperator& op : pointwise_operators())
    if (op.inputs >= least_inputs) some.push_back(op.name);
  return some;
}
std::string name_of(const testing::TestParamInfo<std::string>& instance) { return instance.param; }

INSTANTIATE_TEST_SUITE_P(Operators, PointwiseOnGpu, testing::ValuesIn(operators(1)), name_of);
INSTANTIATE_TEST_SUITE_P(Operators, PointwiseOfSeveralOnGpu, testing::ValuesIn(operators(2)), name_of);

TEST(PointwiseOnGpu, InputsOnTwoDevicesAreRefused) {
  NEED_GPU();
  const Variable here(Tensor::zeros({2, 3})), there(Tensor::zeros({2, 3}, Device::cuda));
  EXPECT_THROW(here + there, Error);
  EXPECT_THROW(there + here, Error);
}

}  // namespace
}  // namespace rondo
