// The batch-normalised cells against plain loops, values and gradients; and the gradients of their parts.
#include <numeric>

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tests/nn/cells/batch_norm_reference.h"

namespace rondo::batch_norm_test {
namespace {

using namespace batch_norm_reference;

struct Case {
  std::string cell;
  bool training, from_zero, with_padding;
};
void PrintTo(const Case& it, std::ostream* out) {
  *out << it.cell << (it.training ? "_training" : "_evaluation") << (it.from_zero ? "_from_zero" : "")
       << (it.with_padding ? "_padded" : "");
}
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* cell : {"bn_lstm", "bn_mi_lstm"})
    for (const bool training : {false, true})
      for (const bool from_zero : {false, true})
        for (const bool with_padding : {false, true})
          all.push_back({cell, training, from_zero, with_padding});
  return all;
}
class BatchNormCell : public testing::TestWithParam<Case> {};

TEST_P(BatchNormCell, IsThePlainLoops) {
  const Case& it = GetParam();
  const Marks& valid = it.with_padding ? padded : all_valid;
  const bool integrated = it.cell == "bn_mi_lstm";
  Model model(it.cell);
  if (it.from_zero) fill(value_of(model, "h0_l0"), 0), fill(value_of(model, "c0_l0"), 0);
  const StatisticsOfSteps population = set_population(model);
  const StatisticsOfSteps* given = it.training ? nullptr : &population;
  model.set_training(it.training);

  const std::vector<Tensor> weights = samples({{T, B, H}, {B, H}});
  const Model::Result result = model.run(valid);
  Variable loss = sum(result.c * Variable(weights[1]));
  for (int64_t t = 0; t < T; ++t) loss = loss + sum(result.h[t] * Variable(weights[0][t]));
  loss.backward();

  const PlainOutputs<double> expected = plain(model.numbers<double>(), integrated, valid, given);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < B * H; ++i)
      ASSERT_NEAR(result.h[t].value().data()[i], expected.h[t * B * H + i], 1e-12) << "step " << t;
  for (int64_t i = 0; i < B * H; ++i) ASSERT_NEAR(result.c.value().data()[i], expected.c[i], 1e-12);

  Named<Complex> inputs = model.numbers<Complex>();
  for (auto& [name, values] : inputs) {
    const std::vector<real> gradient = gradient_of(model, name + "_l0").to_vector();
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] += Complex(0, 1e-100);
      const PlainOutputs<Complex> outputs = plain(inputs, integrated, valid, given);
      values[i] -= Complex(0, 1e-100);
      Complex total = std::inner_product(outputs.h.begin(), outputs.h.end(), weights[0].data(), Complex());
      total = std::inner_product(outputs.c.begin(), outputs.c.end(), weights[1].data(), total);
      const double derivative = total.imag() / 1e-100, actual = gradient[i];
      ASSERT_NEAR(actual, derivative, 1e-10 * std::max(1.0, std::abs(derivative))) << name << " " << i;
      largest = std::max(largest, std::abs(derivative));
    }
    // What has no effect at all would prove nothing; h0 has none where U h does not vary.
    EXPECT_EQ(largest > 1e-3, !(it.from_zero && it.training && name == "h0")) << name << " " << largest;
  }
}

TEST_P(BatchNormCell, HasTheGradientOfCentralDifferences) {
  const Case& it = GetParam();
  Model model(it.cell);
  if (it.from_zero) fill(value_of(model, "h0_l0"), 0), fill(value_of(model, "c0_l0"), 0);
  set_population(model);
  model.set_training(it.training);
  const auto loss = [&] {
    const Model::Result result = model.run(it.with_padding ? padded : all_valid);
    Variable total = sum(square(result.c + real(1)));
    for (const Variable& h : result.h) total = total + sum(square(h + real(1)));
    return total;
  };
  loss().backward();
  for (const Segment& segment : model.segments()) {
    if (it.from_zero && it.training && segment.name == "h0_l0") continue;  // the columns begin to vary there
    const Tensor value = part_of(model.values(), segment);
    const std::vector<real> gradient = part_of(model.gradients(), segment).to_vector();
    for (int64_t i = 0; i < value.size(); ++i) {
      const int64_t place = place_of(value, i);
      const auto at = [&, kept = value.data()[place]](double h) {
        value.mutable_data()[place] = kept + h;
        const double result = loss().value().item();
        value.mutable_data()[place] = kept;
        return result;
      };
      const double analytic = gradient[i];
      // Of fourth order: two valid rows are steep.
      const double h = 1e-5, numeric = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      ASSERT_NEAR(analytic, numeric, 1e-6 * std::max(1.0, std::abs(numeric))) << segment.name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, BatchNormCell, testing::ValuesIn(cases()), testing::PrintToStringParamName());

// ---- Gradients.

// The true derivative, 316 gamma a step, would grow beyond all numbers over the first 100 steps.
TEST(BatchNorm, RowsThatAreAllTheSameDoNotExplode) {
  constexpr int64_t same = 100, other = 3;
  struct Long : Module {
    Long() : cell(*this, "_l0", pytorch_cell(I, H)), x(*this, "x", {same + other, B, I}, uniform_values(1)) {
      finalize(2);
    }
    Lstm<BatchNormSum> cell;
    Parameter x;
  } model;
  const Tensor x = value_of(model, "x");
  for (int64_t t = 0; t < same; ++t)
    for (int64_t b = 1; b < B; ++b) copy(x[t].slice_rows(0, 1), x[t].slice_rows(b, b + 1));
  model.set_training(true);
  model.cell.begin_chunk();
  State state = model.cell.initial_state(B);
  for (StepInputs& inputs : model.cell.project(model.x)) {
    const int64_t steps = state.steps + 1;
    state = model.cell.step(inputs, state);
    state.steps = steps;
  }
  sum(state.h * Variable(samples({{B, H}})[0])).backward();
  const Tensor gradient = gradient_of(model, "x");
  for (int64_t t = 0; t < same; ++t) EXPECT_EQ(sum_of_squares(gradient[t]), 0) << t;
  EXPECT_GT(sum_of_squares(gradient), 0);
  EXPECT_LT(sum_of_squares(model.gradients()), 100);
}

TEST(Gradient, OfColumnMoments) {
  const auto both = [](const ColumnMoments& moments) { return concat({moments.mean, moments.variance}); };
  expect_gradients([&](const std::vector<Variable>& x) { return both(column_moments(x[0])); },
                   samples({{4, 300}}));
  expect_gradients(
      [&](const std::vector<Variable>& x) {
        return both(column_moments(x[0].slice_columns(1, 4))) + column_moments(x[0]).mean;
      },
      samples({{4, 6}}));
  expect_gradients([](const std::vector<Variable>& x) { return column_moments(x[0]).variance; },
                   samples({{5, 2}}));
}

TEST(Gradient, OfBatchNormalizationThroughItsStatistics) {
  expect_gradients(
      [](const std::vector<Variable>& x) {
        return batch_normalization(x[0], column_moments(x[0]), x[1], x[2]);
      },
      samples({{5, 4}, {4}, {4}}));
}

TEST(ColumnMoments, RefuseABatchWithoutRows) {
  EXPECT_THROW(column_moments(Variable(Tensor::zeros({0, 3}))), Error);
}

}  // namespace
}  // namespace rondo::batch_norm_test
