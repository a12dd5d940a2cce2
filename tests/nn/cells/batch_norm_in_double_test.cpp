// The batch-normalised cells against plain loops, values and gradients.
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

  const PlainOutputs expected = plain(model.numbers(), integrated, valid, given);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < B * H; ++i)
      ASSERT_NEAR(result.h[t].value().data()[i], expected.h[t * B * H + i].real(), 1e-12) << "step " << t;
  for (int64_t i = 0; i < B * H; ++i) ASSERT_NEAR(result.c.value().data()[i], expected.c[i].real(), 1e-12);

  Parameters inputs = model.numbers();
  for (auto& [name, values] : inputs) {
    const std::vector<real> gradient = gradient_of(model, name + "_l0").to_vector();
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] += Number(0, 1e-100);
      const PlainOutputs outputs = plain(inputs, integrated, valid, given);
      values[i] -= Number(0, 1e-100);
      Number total = std::inner_product(outputs.h.begin(), outputs.h.end(), weights[0].data(), Number());
      total = std::inner_product(outputs.c.begin(), outputs.c.end(), weights[1].data(), total);
      const double derivative = total.imag() / 1e-100, actual = gradient[i];
      ASSERT_NEAR(actual, derivative, 1e-10 * std::max(1.0, std::abs(derivative))) << name << " " << i;
      largest = std::max(largest, std::abs(derivative));
    }
    // What has no effect at all would prove nothing; h0 has none where U h does not vary.
    EXPECT_EQ(largest > 1e-3, !(it.from_zero && it.training && name == "h0")) << name << " " << largest;
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, BatchNormCell, testing::ValuesIn(cases()), testing::PrintToStringParamName());

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

TEST(ColumnMoments, RefuseABatchWithoutRows) {
  EXPECT_THROW(column_moments(Variable(Tensor::zeros({0, 3}))), Error);
}

}  // namespace
}  // namespace rondo::batch_norm_test
