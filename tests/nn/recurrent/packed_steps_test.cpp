// Sequences without padding: what is not moved, and that a layer computes no other rows. Where their rows go,
// and their states: tests/nn/cells/cells_in_double_test.cpp, by the results.
#include "nn/recurrent/packed_steps.h"

#include <gtest/gtest.h>

#include "tests/nn/parameters.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;

/// x[t, b] = 10 t + b.
Variable numbered(int64_t T, int64_t B) {
  Numbers numbers;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t b = 0; b < B; ++b) numbers.push_back(static_cast<real>(10 * t + b));
  return Tensor::from(numbers, {T, B, 1});
}

TEST(PackedSteps, WithoutPaddingNothingIsMoved) {
  const Variable x = numbered(3, 2), rows(Tensor::zeros({2, 4}));
  for (const Lengths& lengths : {Lengths(), Lengths{3, 3}}) {
    const PackedSteps steps(lengths, 3, 2, Direction::forward);
    EXPECT_EQ(steps.rows(), (std::vector<int64_t>{2, 2, 2}));
    EXPECT_EQ(steps.packed(x).x.value().data(), x.value().data());
    EXPECT_EQ(steps.sorted(rows).value().data(), rows.value().data());
  }
  EXPECT_EQ(any_error_of([] {
              PackedSteps({1, 2}, 3, 3, Direction::forward);
            }),
            "[recurrent] 3 rows need as many lengths, got 2");
}

/// Counts the rows of each step.
struct RowCounter : StepObserver {
  void begins(const Cell&, const std::vector<int64_t>& rows) override { told = rows; }
  State before_step(const Cell&, State state) override { return state; }
  State after_step(const Cell&, State state) override {
    computed.push_back(state.h.shape()[0]);
    return state;
  }
  std::vector<int64_t> told, computed;
};

TEST(RecurrentLayer, ComputesNoStepOfPadding) {
  StackAlone model("lstm", 1, 4);
  RowCounter counter;
  const Observing<StepObserver> observed(counter);
  model.stack(numbered(4, 4), model.stack.initial_states(4), {1, 3, 0, 2});
  EXPECT_EQ(counter.computed, (std::vector<int64_t>{3, 2, 1}));
  EXPECT_EQ(counter.told, counter.computed);
}

TEST(RecurrentLayer, OfPaddingAloneKeepsTheState) {
  StackAlone model("lstm", 1, 4);
  std::vector<State> states = model.stack.initial_states(2);
  states[0].h = Tensor::filled({2, 4}, 3);
  const auto [output, last] = model.stack(numbered(3, 2), states, {0, 0});
  EXPECT_EQ(output.value().to_vector(), Numbers(3 * 2 * 4, 0));
  EXPECT_EQ(last[0].h.value().to_vector(), Numbers(2 * 4, 3));
  EXPECT_EQ(last[0].steps, 3);
}

}  // namespace
}  // namespace rondo
