// A training that is saved in the middle of an epoch and goes on ends with the same bytes, for every cell,
// every kind of batches, and with averaged weights.
#include <gtest/gtest.h>

#include "nn/cells/cell.h"
#include "tests/lm/training/small_training.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

class ResumedTraining : public testing::TestWithParam<std::string> {};

TEST_P(ResumedTraining, GoesOnFromASavedStateWithTheSameBits) {
  const TemporaryFolder folder;
  const Recipe recipe = small_recipe_that_ends(GetParam());
  Training whole(recipe, 11, small_text), resumed(recipe, 11, small_text);
  updates(whole, 3);
  EXPECT_TRUE(whole.trainer.validated({.metrics = {{"nats", 2.5}}}));
  EXPECT_FALSE(whole.trainer.validated({.metrics = {{"nats", 2.75}}}));
  whole.trainer.save(folder / "state", 42);
  EXPECT_EQ(resumed.trainer.load(folder / "state"), 42);
  EXPECT_EQ(resumed.trainer.step_count(), 3);
  EXPECT_TRUE(resumed.trainer.has_best());
  EXPECT_EQ(resumed.trainer.learning_rate(), whole.trainer.learning_rate());
  EXPECT_TRUE(resumed.trainer.is_validated());
  updates(whole, 4);
  updates(resumed, 4);
  EXPECT_FALSE(resumed.trainer.is_validated());
  EXPECT_EQ(resumed.model.values().to_vector(), whole.model.values().to_vector());
}

INSTANTIATE_TEST_SUITE_P(EveryCell, ResumedTraining, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

class ResumedTrainingOnBatches : public testing::TestWithParam<Batching> {};

TEST_P(ResumedTrainingOnBatches, GoesOnFromASavedStateWithTheSameBits) {
  const TemporaryFolder folder;
  const Recipe recipe = rich_recipe(GetParam());
  Training whole(recipe, 11, small_text, 3), resumed(recipe, 11, small_text, 3);
  int64_t symbols = 0;
  while (whole.trainer.next_batch()) symbols += update(whole).scored;
  EXPECT_EQ(symbols, whole.task.scored_per_epoch());
  EXPECT_EQ(whole.task.epoch_fraction(), 1);
  whole.trainer.begin_next_epoch();
  updates(whole, 2);
  whole.trainer.save(folder / "state", 0);
  resumed.trainer.load(folder / "state");
  EXPECT_GT(resumed.task.epoch_fraction(), 0);
  EXPECT_EQ(resumed.task.epoch_fraction(), whole.task.epoch_fraction());
  updates(whole, 3);
  updates(resumed, 3);
  EXPECT_EQ(resumed.model.values().to_vector(), whole.model.values().to_vector());
}

INSTANTIATE_TEST_SUITE_P(EveryBatching, ResumedTrainingOnBatches,
                         testing::Values(Batching::streams, Batching::lines, Batching::crops),
                         [](const auto& instance) { return name_of(instance.param); });

TEST(Training, ZeroesTheStateAfterEverySoManySteps) {
  const TemporaryFolder folder;
  for (const char* cell : {"lstm", "bn_lstm"}) {
    SCOPED_TRACE(cell);
    Recipe recipe = small_recipe(cell);
    recipe.language_model().train.reset_every = 3;
    Training training(recipe, 11, small_text), resumed(recipe, 11, small_text);
    const Tensor h({recipe.language_model().train.batches.batch, 6});
    for (int step = 1; step <= 7; ++step) {
      updates(training, 1);
      training.trainer.save(folder / "state", 0);
      const StateFile state(folder / "state");
      int64_t steps = -1;
      state.read("state.steps", steps);
      EXPECT_EQ(steps, 7 * (step % 3));
      for (const char* name : {"state.0.h", "state.0.c", "state.1.h", "state.1.c"}) {
        state.read(name, h);
        EXPECT_EQ(sum_of_squares(h) == 0, step % 3 == 0) << name << " after step " << step;
      }
      if (step == 4) resumed.trainer.load(folder / "state");
      if (step > 4) updates(resumed, 1);
    }
    EXPECT_EQ(resumed.model.values().to_vector(), training.model.values().to_vector());
  }
}

TEST(Training, AveragingGoesOnFromASavedStateWithTheSameBits) {
  const TemporaryFolder folder;
  for (const Averaging averaging : {Averaging::non_monotonic, Averaging::always}) {
    for (const int64_t saved_after : {2, 4}) {  // evaluations: before the trigger and after it
      Recipe recipe = averaging_recipe();
      recipe.trainer.averaging = averaging;
      Training whole(recipe, 11, small_text), resumed(recipe, 11, small_text);
      const std::vector<double> losses = {2.5, 2.25, 3, 2, 2.75};
      const auto train = [&](Training& training, int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) {
          updates(training, 1);
          training.trainer.validated({.metrics = {{"nats", losses[static_cast<size_t>(i)]}}});
        }
      };
      train(whole, 0, saved_after);
      whole.trainer.save(folder / "state", 0);
      resumed.trainer.load(folder / "state");
      EXPECT_EQ(resumed.trainer.averages(), averaging == Averaging::always || saved_after == 4);
      train(whole, saved_after, 5);
      train(resumed, saved_after, 5);
      EXPECT_EQ(resumed.model.values().to_vector(), whole.model.values().to_vector());
      const auto of_whole = whole.trainer.evaluated_weights(),
                 of_resumed = resumed.trainer.evaluated_weights();
      EXPECT_EQ(resumed.model.values().to_vector(), whole.model.values().to_vector());
    }
  }
}

// What it has staged, and has not told, is of the training before.
TEST(Training, BeginsAnewWithAState) {
  const TemporaryFolder folder;
  Training training(small_recipe("rnn"), 11, small_text);
  training.trainer.save(folder / "state");
  ASSERT_TRUE(training.trainer.next_batch());
  EXPECT_THROW(training.trainer.save(folder / "state"), Error);
  EXPECT_THROW(training.trainer.begin_next_epoch(), Error);
  training.trainer.step();
  ASSERT_TRUE(training.trainer.next_batch());
  training.trainer.load(folder / "state");
  EXPECT_EQ(training.trainer.metrics().scored, 0);
  EXPECT_THROW(training.trainer.step(), Error);
}

TEST(Training, CountsItsSecondsAcrossResumes) {
  const TemporaryFolder folder;
  Training first(small_recipe_that_ends("gru"), 11, small_text),
      second(small_recipe_that_ends("gru"), 11, small_text);
  EXPECT_EQ(first.trainer.seconds(), 0);
  updates(first, 2);
  EXPECT_GT(first.trainer.seconds(), 0);
  first.trainer.save(folder / "state", 0);
  second.trainer.load(folder / "state");
  EXPECT_EQ(second.trainer.seconds(), first.trainer.seconds());
  updates(second, 2);
  EXPECT_GT(second.trainer.seconds(), first.trainer.seconds());
}

}  // namespace
}  // namespace rondo
