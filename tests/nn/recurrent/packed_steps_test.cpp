// Sequences without padding: where their rows go, and that a layer computes no others.
#include "nn/recurrent/packed_steps.h"

#include <gtest/gtest.h>

#include <utility>

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

TEST(PackedSteps, TheLongestSequenceIsTheFirst) {
  const PackedSteps steps({1, 3, 0, 2}, 4, 4, Direction::forward);
  EXPECT_EQ(steps.rows(), (std::vector<int64_t>{3, 2, 1}));
  const Variable packed = steps.packed(numbered(4, 4)).x;
  EXPECT_EQ(packed.value().to_vector(), (Numbers{1, 3, 0, 11, 13, 21}));
  EXPECT_EQ(steps.padded(packed).value().to_vector(),
            (Numbers{0, 1, 0, 3, 0, 11, 0, 13, 0, 21, 0, 0, 0, 0, 0, 0}));
  const Variable rows(Tensor::from({5, 6, 7, 8}, {4, 1}));
  EXPECT_EQ(steps.sorted(rows).value().to_vector(), (Numbers{6, 8, 5, 7}));
  EXPECT_EQ(steps.unsorted(steps.sorted(rows)).value().to_vector(), (Numbers{5, 6, 7, 8}));
}

TEST(PackedSteps, InReverseFromTheLastStepOfEach) {
  const PackedSteps steps({2, 3}, 3, 2, Direction::reverse);
  const Variable packed = steps.packed(numbered(3, 2)).x;
  EXPECT_EQ(packed.value().to_vector(), (Numbers{21, 10, 11, 0, 1}));
  EXPECT_EQ(steps.padded(packed).value().to_vector(), (Numbers{0, 1, 10, 11, 0, 21}));
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

TEST(PackedState, KeepsTheLastStateOfEachSequence) {
  const PackedSteps steps({1, 3, 0, 2}, 4, 4, Direction::forward);
  PackedState state(steps, {.h = Tensor::from({5, 6, 7, 8}, {4, 1}), .c = Tensor::zeros({4, 2})});
  for (const int64_t rows : steps.rows()) {
    const State& before = state.of_first(rows);
    EXPECT_EQ(before.h.shape(), (Shape{rows, 1}));
    State next = before;
    next.h = before.h.value().to_vector().size() == 3 ? Tensor::from({1, 2, 3}, {3, 1}) : before.h;
    next.c = Tensor::filled({rows, 2}, static_cast<real>(rows));
    state.set(std::move(next));
  }
  EXPECT_EQ(state.last().h.value().to_vector(), (Numbers{3, 1, 7, 2}));
  EXPECT_EQ(state.last().c.value().to_vector(), (Numbers{3, 3, 1, 1, 0, 0, 2, 2}));
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
