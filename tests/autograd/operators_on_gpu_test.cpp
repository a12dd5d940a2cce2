// Every pointwise operator on the list, on both devices. A new operator is compared without an edit here.
#include <cmath>
#include <limits>
#include <set>

#include "nn/cells/gates.h"
#include "tests/autograd/pointwise_cases.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

class PointwiseOnGpu : public testing::TestWithParam<std::string> {
 protected:
  const PointwiseOperator& op() const { return detail::find_operator(GetParam().c_str()); }
  /// All outputs side by side.
  Variable outputs(const std::vector<Variable>& x) const {
    return concat(apply(op(), op().example.data(), x));
  }
};

TEST_P(PointwiseOnGpu, InEachWay) {
  NEED_GPU();
  for (const PointwiseCase& it : pointwise_cases(op(), {7, 259})) {
    SCOPED_TRACE(it.name);
    expect_same_on_both(it.f, it.inputs);
  }
}

TEST_P(PointwiseOnGpu, OfAwkwardShapes) {
  NEED_GPU();
  for (const Shape& shape : awkward_shapes) {
    SCOPED_TRACE(fmt::format("{}", shape));
    expect_same_on_both([&](const std::vector<Variable>& x) { return outputs(x); },
                        samples(std::vector<Shape>(static_cast<size_t>(op().inputs), shape), op().domain));
  }
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
  for (size_t j = 0; j < static_cast<size_t>(op().inputs); ++j) {
    std::vector<Tensor> x(static_cast<size_t>(op().inputs), ordinary);
    x[j] = Tensor::from(extremes, {count});
    const auto on = [&](Device device) {
      std::vector<Variable> there;
      for (const Tensor& it : x) there.emplace_back(it.to(device));
      return outputs(there).value().to_vector();
    };
    expect_same(on(Device::cuda), on(Device::cpu), fmt::format("input {}", j));
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, PointwiseOnGpu, testing::ValuesIn(names_of_operators()),
                         [](const auto& instance) { return instance.param; });

// Over steps of several sizes, few rows and many, of the whole vector, of a part of it, and of it twice in
// one operator, beside contributions that are not of rows. The sums are worked out in double.
TEST(PointwiseOnGpu, GradientsOfARepeatedVectorAreSumsOverAllSteps) {
  NEED_GPU();
  constexpr int64_t columns = 70, half = 32;
  const Tensor gradient = Tensor::filled({columns}, real(0.5), Device::cuda);
  const Variable v = Variable::leaf(Tensor::filled({columns}, 2, Device::cuda), gradient);
  std::vector<double> expected(columns, 0.5 + 3);
  Variable total = sum(v * real(3));
  for (const int64_t rows : {5, 40, 1, 40, 511, 512, 600, 8, 5}) {
    const Tensor x({rows, columns});
    fill_uniform(x, {.seed = static_cast<uint64_t>(rows)}, -1, 1);
    const Variable there(x.to(Device::cuda));
    total = total + sum(there * v) +
            sum(there.slice_columns(half, columns) * v.slice_columns(half, columns)) +
            sum(pointwise(LstmCellState{}, v, there, there, v));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < columns; ++j) {
        const double value = x.data()[r * columns + j], s = 1 / (1 + std::exp(-2.0));
        expected[static_cast<size_t>(j)] +=
            value * (j < half ? 1 : 2) + s * (1 - s) * std::tanh(value) + 1 / (1 + std::exp(-value));
      }
  }
  total.backward();
  for (int64_t j = 0; j < columns; ++j) {
    const auto i = static_cast<size_t>(j);
    ASSERT_NEAR(gradient.to_vector()[i], expected[i], tolerance * std::abs(expected[i])) << j;
  }
}

// As backward of packed steps has them.
TEST(PointwiseOnGpu, ContributionsOfMoreAndMoreRowsShareMemory) {
  NEED_GPU();
  Sink sink({70}, Device::cuda);
  std::set<const real*> places;
  for (int64_t rows = 1; rows <= 100; ++rows)
    places.insert(sink.contributions(sink.whole(), rows).tensor.data());
  EXPECT_EQ(places.size(), 8u) << "of 1, 2, 4, .. 128 rows";
}

TEST(PointwiseOnGpu, InputsOnTwoDevicesAreRefused) {
  NEED_GPU();
  const Variable here(Tensor::zeros({2, 3})), there(Tensor::zeros({2, 3}, Device::cuda));
  EXPECT_THROW(here + there, Error);
  EXPECT_THROW(there + here, Error);
}

}  // namespace
}  // namespace rondo
