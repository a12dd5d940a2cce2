// A recurrent stack a step at a time from outside gives what it gives over the whole sequence.
#include <gtest/gtest.h>

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "nn/recurrent/recurrent_stack.h"
#include "tests/tensor/errors.h"
#include "tests/tensor/near.h"

namespace rondo {
namespace {

constexpr int64_t T = 4, B = 3, I = 4, H = 5;

/// What a run leaves behind.
struct Trace {
  std::vector<std::vector<real>> values;  // outputs and states
  std::vector<real> gradients;
};

struct Model : Module {
  explicit Model(const StackOptions& options)
      : stack(*this, "rnn", options), x(*this, "x", {T, B, I}, uniform_values(1)) {
    finalize(3);
    set_training(true);
  }

  Trace whole(const Lengths& lengths) {
    begin_update({.seed = 3, .update = 7, .slice = {B, 0, B}});
    const auto result = stack(x, stack.initial_states(B), lengths);
    return traced(result.output, result.states);
  }
  Trace by_steps(const Lengths& lengths) {
    begin_update({.seed = 3, .update = 7, .slice = {B, 0, B}});
    std::vector<State> states = stack.initial_states(B);
    std::vector<Variable> outputs;
    stack.begin(B);
    for (int64_t t = 0; t < T; ++t) {
      Lengths of_step;
      for (const int64_t length : lengths) of_step.push_back(t < length);
      auto [output, next] = stack.step(x.variable()[t], states, of_step);
      EXPECT_EQ(output.shape().dimensions(), 2);
      outputs.push_back(output);
      states = next;
    }
    return traced(rondo::stack(outputs), states);
  }

  RecurrentStack stack;
  Parameter x;

 private:
  Trace traced(const Variable& output, const std::vector<State>& states) {
    Trace trace{{output.value().to_vector()}, {}};
    Variable loss = sum(square(output));
    for (const State& state : states) {
      EXPECT_EQ(state.steps, T);
      trace.values.push_back(state.h.value().to_vector());
      loss = loss + sum(state.h);
      if (!state.c.defined()) continue;
      trace.values.push_back(state.c.value().to_vector());
      loss = loss + sum(state.c);
    }
    fill(gradients(), 0);
    loss.backward();
    trace.gradients = gradients().to_vector();
    return trace;
  }
};

class Stepping : public testing::TestWithParam<std::string> {
 protected:
  /// The same numbers to the last bit. Nearly so: gradients, whose sums are cut in another way, and what
  /// statistics of rows give, which a whole sequence sums in the order of their lengths.
  static void expect_same(const StackOptions& options, const Lengths& lengths) {
    Model at_once(options), step_by_step(options);
    const Trace expected = at_once.whole(lengths), actual = step_by_step.by_steps(lengths);
    ASSERT_EQ(actual.values.size(), expected.values.size());
    for (size_t i = 0; i < actual.values.size(); ++i)
      if (!lengths.empty() && traits_of(GetParam()).looks_across_rows)
        expect_near(actual.values[i], expected.values[i], sizeof(real) == 8 ? 1e-12 : 1e-5);
      else
        EXPECT_EQ(actual.values[i], expected.values[i]);
    expect_near(actual.gradients, expected.gradients, sizeof(real) == 8 ? 1e-9 : 1e-4);
  }
  StackOptions two_layers() const {
    return {.cell = GetParam(), .layers = {pytorch_cell(I, H), pytorch_cell(H, H - 1)}};
  }
};

TEST_P(Stepping, GivesWhatTheSequenceGives) {
  expect_same(two_layers(), {});
  expect_same(two_layers(), {4, 1, 2});
  expect_same(two_layers(), {2, 0, 3});  // the last step has padding alone
}

TEST_P(Stepping, DrawsTheSameMasks) {
  StackOptions options = two_layers();
  options.dropout = 0.4;
  options.variational = true;
  options.regularization = {.dropout = 0.3, .zoneout = 0.2, .zoneout_memory = 0.3, .weight_drop = 0.4};
  expect_same(options, {});
  expect_same(options, {4, 1, 2});
}

TEST_P(Stepping, OfMajorAndMinorCells) {
  StackOptions options = two_layers();
  options.layers = {{pytorch_cell(I, H), pytorch_cell(I, 2)}, {pytorch_cell(H + 2, H), pytorch_cell(I, 3)}};
  expect_same(options, {});
  options.minor_input = MinorInput::previous_layer;
  options.layers[1] = {pytorch_cell(H + 2, H), pytorch_cell(H + 2, 3)};
  expect_same(options, {4, 1, 2});
}

INSTANTIATE_TEST_SUITE_P(Cells, Stepping, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

// Dropout that is no variational one is drawn for each step, and still drops.
TEST(SteppingAStack, DrawsOtherDropoutStepByStep) {
  Model model({.cell = "lstm", .layers = {pytorch_cell(I, H), pytorch_cell(H, H)}, .dropout = 0.5});
  model.begin_update({.seed = 3, .update = 7, .slice = {B, 0, B}});
  model.stack.begin(B);
  const auto states = model.stack.initial_states(B);
  const Variable x(Tensor::filled({B, I}, 1));
  const auto output = [&] { return model.stack.step(x, states).output.value().to_vector(); };
  EXPECT_NE(output(), output());
  model.set_training(false);
  EXPECT_EQ(output(), output());
}

// The masks of begin() hold for all steps, also in the first of a stack of blocks.
TEST(SteppingAStack, DropsVariationallyInTheFirstBlock) {
  Model model({.cell = "lstm",
               .layers = {pytorch_cell(I, I)},
               .dropout = 0.5,
               .variational = true,
               .block = {.kind = BlockKind::residual}});
  model.begin_update({.seed = 3, .update = 7, .slice = {B, 0, B}});
  model.stack.begin(B);
  const auto states = model.stack.initial_states(B);
  Tensor values({B, I});
  for (int64_t i = 0; i < B * I; ++i) values.mutable_data()[i] = static_cast<real>(i % 3);
  const auto output = [&] { return model.stack.step(Variable(values), states).output.value().to_vector(); };
  const auto dropped = output();
  EXPECT_EQ(output(), dropped);
  model.set_training(false);
  model.stack.begin(B);
  EXPECT_NE(output(), dropped);
}

TEST(SteppingAStack, ErrorsSayWhatWasExpected) {
  Model model({.cell = "lstm", .layers = {pytorch_cell(I, H)}});
  const auto states = model.stack.initial_states(B);
  const Variable x(Tensor::zeros({B, I}));
  const auto error = [&](const Variable& input, const std::vector<State>& from) {
    return any_error_of([&] { model.stack.step(input, from); });
  };
  EXPECT_EQ(error(x, states), "[lstm_l0] begin() comes before the first step of a chunk");
  model.stack.begin(B);
  model.stack.step(x, states);
  EXPECT_EQ(error(Variable(Tensor::zeros({2, I})), states),
            "[lstm_l0] x of a step is [3, 4], as begin() said, got [2, 4]");
  EXPECT_EQ(error(x, {}), "[recurrent] 1 cells need 1 states, got 0");
  EXPECT_EQ(error(x, {{Variable(Tensor::zeros({B, H})), {}}}),
            "[lstm_l0] a state with h [3, 5], c [3, 5] was expected, got h [3, 5]");
  model.stack(model.x, states);
  EXPECT_EQ(error(x, states), "[lstm_l0] begin() comes before the first step of a chunk");
  Model both({.cell = "lstm", .layers = {pytorch_cell(I, H)}, .bidirectional = true});
  EXPECT_EQ(any_error_of([&] { both.stack.begin(B); }),
            "[recurrent] a bidirectional stack reads the whole sequence, not a step at a time");
}

}  // namespace
}  // namespace rondo
