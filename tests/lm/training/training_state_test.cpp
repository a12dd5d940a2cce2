// What a state or a model file may hold: numbers that a training can have, and on the way there none that the
// next load would refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "lm/training/checkpoint.h"
#include "tests/data/files/tensors_in_memory.h"
#include "tests/lm/training/small_training.h"
#include "tests/lm/training/training.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

/// With every number that a state can have.
Recipe plain_averaging_recipe() {
  Recipe recipe = small_recipe("lstm");
  set(recipe, "train.averaging=non_monotonic train.averaging_interval=1");
  return recipe;
}

TEST(TrainingState, RefusesNumbersThatNoTrainingHas) {
  const TemporaryFolder folder;
  Training training(plain_averaging_recipe(), 11, small_text);
  training.trainer.save(folder / "state", 0);
  const TensorsInMemory good(folder / "state");
  const std::string huge = "9223372036854775807";  // which another step would overflow
  std::istringstream cases(
      "step -5 step nan step 1.5 step HUGE epoch 0 epoch HUGE position 1000000 log_position HUGE "
      "validated_step -2 seconds nan seconds -1 state.steps -1 state.steps HUGE optimizer.steps 1.5 "
      "validation.best nan validation.evaluations_since HUGE schedule.decays -1 schedule.decays HUGE "
      "averaging.count -1 averaging.count 1 averaging.count HUGE trigger.fired 2 trigger.lowest inf "
      "trigger.last -1 trigger.last 1");
  for (std::string name, value; cases >> name >> value;) {
    Metadata numbers = good.metadata;
    ASSERT_EQ(numbers.count(name), 1u) << name;
    numbers[name] = value == "HUGE" ? huge : value;
    write_safetensors(folder / "bad", good.tensors(), numbers);
    EXPECT_NE(error_of([&] { training.trainer.load(folder / "bad"); }).find("bad: "), std::string::npos)
        << name;
  }
}

TEST(TrainingState, RefusesMomentsThatAreBelowZero) {
  const TemporaryFolder folder;
  for (const auto& [optimizer, moment] : {std::pair(OptimizerKind::adam, "second_moment"),
                                          {OptimizerKind::adamw, "second_moment"},
                                          {OptimizerKind::rmsprop, "mean_square"}}) {
    Recipe recipe = small_recipe("rnn");
    recipe.trainer.optimizer.kind = optimizer;
    Training training(recipe, 11, small_text);
    advance(training, 1);
    training.trainer.save(folder / "state", 0);
    TensorsInMemory file(folder / "state");
    const std::string name = fmt::format("optimizer.{}.embedding.weight", moment);
    file.set_first(name, -1e-30F);
    write_safetensors(folder / "bad", file.tensors(), file.metadata);
    EXPECT_NO_THROW(training.trainer.load(folder / "state"));
    expect_contains(error_of([&] { training.trainer.load(folder / "bad"); }),
                    name + " holds -1e-30, which is below 0");
  }
}

// What would be saved could not be read again: what was saved before stays.
TEST(TrainingState, SavesNothingThatIsNotFinite) {
  const TemporaryFolder folder;
  Training training(small_recipe("rnn"), 11, small_text);
  training.trainer.save(folder / "state", 0);
  save_model(folder / "model", training.model);
  const std::string state = bytes_of_file(folder / "state"), model = bytes_of_file(folder / "model");
  training.model.values().mutable_data()[0] = INFINITY;
  expect_contains(error_of<Diverged>([&] { training.trainer.save(folder / "state", 0); }),
                  "step 0: what would be saved is not finite: values.embedding.weight");
  expect_contains(error_of<Diverged>([&] { save_model(folder / "model", training.model); }),
                  "not finite: embedding.weight");
  EXPECT_EQ(bytes_of_file(folder / "state"), state);
  EXPECT_EQ(bytes_of_file(folder / "model"), model);
}

TEST(TrainingState, KnowsThatEarlyStoppingHasEndedTheTraining) {
  const TemporaryFolder folder;
  Recipe recipe = small_recipe("rnn");
  recipe.trainer.early_stopping = 2;
  Training training(recipe, 11, small_text);
  for (const double loss : {2.0, 2.5, 2.25}) {
    EXPECT_FALSE(training.trainer.done()) << loss;
    training.trainer.validated({.metrics = {{"nats", loss}}});
    training.trainer.save(folder / "state");
    EXPECT_EQ(is_finished(recipe.trainer, folder / "state"), training.trainer.done()) << loss;
  }
  EXPECT_TRUE(training.trainer.done());
}

TEST(LoadModel, RefusesWeightsThatAreNotFinite) {
  const TemporaryFolder folder;
  Training training(small_recipe("rnn"), 11, small_text);
  save_model(folder / "model", training.model);
  TensorsInMemory file(folder / "model");
  file.set_first("embedding.weight", NAN);
  write_safetensors(folder / "model", file.tensors(), file.metadata);
  for (const auto& use : {load_model, check_model})
    expect_contains(error_of([&] { use(folder / "model", training.model); }), "not finite");
}

}  // namespace
}  // namespace rondo
