// The cell of docs/extending.md: declared weights, one step, and nothing else. Inside Rondo it would be a
// file of nn/cells/ and a line of nn/cells/catalogue.cpp; its gates would be one pointwise operator, which is
// faster.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "autograd/functions.h"
#include "autograd/gradient_check.h"
#include "autograd/operators.h"
#include "nn/cells/catalogue.h"
#include "nn/cells/join.h"

using namespace rondo;

namespace {

/// What an update-gate RNN may be set to.
struct UpdateGateSettings {
  double update_bias = 0;
};
inline Keys keys_of(UpdateGateSettings& it) {
  return {{"update_bias", &it.update_bias, "initial bias of the gate that keeps the state"}};
}

/// The update-gate RNN (UGRNN), Collins, Sohl-Dickstein & Sussillo 2017: g = s(W x + U h + b),
/// c = tanh(W x + U h + b), h' = g h + (1 - g) c.
struct UpdateGateRnn : Cell {
  using Settings = SettingsOf<UpdateGateSettings>;
  using Cell::Cell;

  State step(StepInputs& x, const State& previous) override {
    const std::vector<Variable> gate = split(add_linear(x.take(W), previous.h, U), gates);
    const Variable g = sigmoid(gate[0]), c = tanh(gate[1]);
    return {c + g * (previous.h_unmasked() - c)};
  }

  Initializer initial_bias() const {
    const double update_bias = settings<UpdateGateSettings>().update_bias;
    return options.biases.with_offset(update_bias, 0, hidden());
  }

  const GateRows gates = GateRows(2, hidden());  // g, c
  Parameter b{*this, "bias_ih", {2 * hidden()}, initial_bias()};
  Projection W{*this, "weight_ih", gates, {&b}};
  Recurrent U{*this, "weight_hh", gates, hidden()};
};

/// A model that is one such cell with one unit and one input.
struct OneUnit : Module {
  OneUnit() { finalize(1); }
  UpdateGateRnn cell{*this, "_l0", pytorch_cell(1, 1)};

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
  const auto values_of = [&](const std::string& name) {
    for (const Segment& segment : model.segments())
      if (segment.name == name) return part_of(model.values(), segment).to_vector();
    return std::vector<real>();
  };
  const std::vector<real> b = values_of("bias_ih_l0"), W = values_of("weight_ih_l0"),
                          U = values_of("weight_hh_l0");
  ASSERT_EQ(b.size() + W.size() + U.size(), 6u);
  const auto states = model.run(Tensor::from(numbers, {3, 1, 1}));
  double h = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    const double g = 1 / (1 + std::exp(-(W[0] * numbers[t] + U[0] * h + b[0])));
    const double c = std::tanh(W[1] * numbers[t] + U[1] * h + b[1]);
    h = g * h + (1 - g) * c;
    EXPECT_NEAR(states[t].value().item(), h, 1e-6) << "step " << t;
  }
}

void takes_its_setting_from_recipes() {
  add_cell<UpdateGateRnn>("ugrnn", "update-gate RNN, Collins et al. 2017");
  CellOptions options = pytorch_cell(1, 1);
  options.biases = constant_values(0.5);
  for (const Key& key : keys_of(options.settings, "ugrnn")) *std::get<double*>(key.member) = 2;
  Module root;
  const auto made = make_cell("ugrnn", root, "", options);
  root.finalize(1);
  const auto bias = std::ranges::find(root.segments(), "bias_ih", &Segment::name);
  ASSERT_NE(bias, root.segments().end());
  EXPECT_EQ(part_of(root.values(), *bias).to_vector(), (std::vector<real>{2.5, 0.5}));
}

// In a process of its own, since other tests list all cells that there are.
TEST(ExampleCell, TakesItsSettingFromRecipes) {
  const auto run = [] {
    takes_its_setting_from_recipes();
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);  // leaves the files of this process to it
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
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
  // Where the recurrent weights see 0, only what is kept tells the two apart: g 0.75.
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
