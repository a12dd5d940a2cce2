// Averaged weights, and the criterion by which averaging begins and a training ends.
#include <gtest/gtest.h>

#include "tests/lm/training/small_training.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

// The whole way: raw weights; the trigger; their average, which is evaluated while they go on.
TEST(Training, AveragesFromTheTriggerOn) {
  Recipe recipe = averaging_recipe();
  Training training(recipe, 11, small_text);
  recipe.trainer.averaging = Averaging::never;
  Training raw(recipe, 11, small_text);
  std::vector<double> sums;
  int count = 0;
  const auto take = [&] {
    const std::vector<real> weights = training.model.values().to_vector();
    sums.resize(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) sums[i] += weights[i];
    ++count;
  };
  for (const double loss : {3.0, 2.5, 2.75, 2.25, 2.625}) {  // the last is above 2.5, the second
    EXPECT_FALSE(training.trainer.averages());
    updates(training, 2);
    updates(raw, 2);
    training.trainer.validated({.metrics = {{"nats", loss}}});
  }
  ASSERT_TRUE(training.trainer.averages());
  take();
  for (int i = 0; i < 3; ++i) {
    updates(training, 1);
    updates(raw, 1);
    take();
  }
  EXPECT_EQ(training.model.values().to_vector(), raw.model.values().to_vector())
      << "training goes on from them";
  {
    const auto in_force = training.trainer.evaluated_weights();
    const std::vector<real> average = training.model.values().to_vector();
    for (size_t i = 0; i < average.size(); ++i) ASSERT_NEAR(average[i], sums[i] / count, 1e-6);
    EXPECT_NE(average, raw.model.values().to_vector());
    const TemporaryFolder folder;
    EXPECT_THROW(training.trainer.save(folder / "state", 0), Error);
  }
  EXPECT_EQ(training.model.values().to_vector(), raw.model.values().to_vector());
}

TEST(Training, TheNonMonotonicCriterionEndsIt) {
  const TemporaryFolder folder;
  Recipe recipe = averaging_recipe();
  set(recipe, "train.averaging=always train.non_monotonic_stopping=true train.epochs=1");
  Training training(recipe, 11, small_text);
  training.trainer.set_baseline({.metrics = {{"nats", 1}}});  // to be beaten, but no loss of this training
  EXPECT_TRUE(training.trainer.is_validated());
  for (const double loss : {3.0, 2.0, 2.5, 1.5, 2.25}) {
    EXPECT_FALSE(training.trainer.done()) << loss;
    EXPECT_FALSE(training.trainer.validated({.metrics = {{"nats", loss}}})) << "not better than the begin";
    training.trainer.save(folder / "state", 0);
    EXPECT_EQ(is_finished(recipe.trainer, folder / "state"), training.trainer.done());
  }
  EXPECT_TRUE(training.trainer.done());
  Training resumed(recipe, 11, small_text);
  resumed.trainer.load(folder / "state");
  EXPECT_TRUE(resumed.trainer.done());
  EXPECT_TRUE(resumed.trainer.has_best());
  EXPECT_EQ(resumed.trainer.ended_by(), "validation no longer falls");
  resumed.trainer.begin_next_epoch();
  EXPECT_EQ(resumed.trainer.ended_by(), "") << "all its epochs are trained";
}

}  // namespace
}  // namespace rondo
