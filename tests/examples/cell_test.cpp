// The cell of docs/extending.md: declared weights, one step, and nothing else. Inside Rondo it would be a
// file of nn/cells/ and a line of nn/cells/catalogue.cpp; its gates would be one pointwise operator, which is
// faster.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/functions.h"
#include "autograd/gradient_check.h"
#include "autograd/operators.h"
#include "nn/cells/join.h"

using namespace rondo;

namespace {

/// The minimal gated unit, Zhou et al. 2016: f = s(W x + U h + b), n = tanh(W x + U (f h) + b), h' = (1 - f)
/// h + f n.
struct MinimalGatedUnit : Cell {
  using Settings = SettingsOf<GateBiasSettings>;

  MinimalGatedUnit(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        biases(*this, {gates}),
        z(*this, "weight_ih", gates, biases.all()),
        U(*this, "weight_hh", gates, hidden()) {}

  State step(StepInputs& x, const State& previous) override {
    const int64_t H = hidden();
    const Variable& h = previous.h;
    const Variable f = sigmoid(add_linear(x[z].slice_columns(0, H), h, U.rows(0, H)));
    const Variable n = tanh(add_linear(x[z].slice_columns(H, 2 * H), f * h, U.rows(H, 2 * H)));
    return {previous.h_unmasked() + f * (n - previous.h_unmasked())};
  }

  const GateRows gates = GateRows(2, hidden());  // f, n
  GateBiases biases;
  Projection z;
  Recurrent U;
};

/// A model that is one such cell with one unit and one input.
struct OneUnit : Module {
  OneUnit() { finalize(1); }
  MinimalGatedUnit cell{*this, "_l0", pytorch_cell(1, 1)};

  /// The state after each of three steps.
  std::vector<Variable> run(const Variable& x) {
    cell.begin_chunk();
    std::vector<StepInputs> inputs = cell.project(x);
    std::vector<Variable> states;
    State state = cell.initial_state(1);
    for (int64_t t = 0; t < 3; ++t) {
      state = cell.step(inputs[t], state);
      states.push_back(state.h);
    }
    return states;
  }
};

const std::vector<real> numbers = {0.5, -1, 2};

TEST(ExampleCell, ComputesItsEquations) {
  OneUnit model;
  std::vector<real> b_ih, b_hh, W, U;
  for (const Segment& segment : model.segments()) {
    const std::vector<real> values = part_of(model.values(), segment).to_vector();
    if (segment.name == "bias_ih_l0") b_ih = values;
    if (segment.name == "bias_hh_l0") b_hh = values;
    if (segment.name == "weight_ih_l0") W = values;
    if (segment.name == "weight_hh_l0") U = values;
  }
  ASSERT_EQ(b_ih.size() + b_hh.size() + W.size() + U.size(), 8u);
  const auto states = model.run(Tensor::from(numbers, {3, 1, 1}));
  double h = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    const double f = 1 / (1 + std::exp(-(W[0] * numbers[t] + b_ih[0] + b_hh[0] + U[0] * h)));
    const double n = std::tanh(W[1] * numbers[t] + b_ih[1] + b_hh[1] + U[1] * f * h);
    h = (1 - f) * h + f * n;
    EXPECT_NEAR(states[t].value().item(), h, 1e-6) << "step " << t;
  }
}

// Its gate keeps the state itself, not what a variational mask leaves of it.
TEST(ExampleCell, KeepsWhatAMaskHides) {
  OneUnit model;
  const Tensor h = Tensor::from({0.75}, {1, 1}), hidden = Tensor::zeros({1, 1});
  const auto next = [&](const State& state) {
    model.cell.begin_chunk();
    std::vector<StepInputs> inputs = model.cell.project(Tensor::from({-2}, {1, 1, 1}));
    return model.cell.step(inputs[0], state).h.value().item();
  };
  // Where the recurrent weights see 0, only what is kept tells the two apart: (1 - f) 0.75.
  const double with = next({hidden, {}, {}, 0, h}), without = next({hidden, {}, {}, 0, hidden});
  EXPECT_GT(with - without, 0.05);
  EXPECT_LT(with - without, 0.75);
}

#ifdef RONDO_DOUBLE  // central differences need double
TEST(ExampleCell, PassesTheGradientCheck) {
  OneUnit model;
  const GradientCheck result = check_gradients([&](const auto& x) { return concat(model.run(x[0])); },
                                               {Tensor::from(numbers, {3, 1, 1})});
  EXPECT_TRUE(result.passed) << result.worst;
}
#endif

}  // namespace
