// A training as an object: its updates, their losses, gradients and rates. Going on from a saved state:
// resumed_training_test.cpp; micro-batches and padding: micro_batches_test.cpp; averaged weights:
// averaging_test.cpp.
#include "tests/lm/training/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "nn/cells/cell.h"
#include "nn/layers/linear.h"
#include "optim/averaging.h"
#include "tensor/allocator.h"
#include "tensor/products/precision.h"
#include "tests/lm/training/small_training.h"
#include "tests/nn/parameters.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

TEST(TrainingInBf16, LosesWhatATrainingInFp32Loses) {
  Recipe recipe = small_recipe("lstm");
  set(recipe, "model.embedding=24 model.hidden=[40] train.learning_rate=0.005");
  std::vector<double> losses[2];
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const WithPrecision in(precision);
    Training training(recipe, 11, small_text);
    for (int i = 0; i < 200; ++i) {
      advance(training, 1);
      losses[precision == Precision::bf16].push_back(training.trainer.metrics().mean_loss());
    }
  }
  EXPECT_LT(losses[0].back(), losses[0].front() / 2) << "nothing was learnt";
  double largest = 0;
  for (size_t i = 0; i < losses[0].size(); ++i)
    largest = std::max(largest, std::abs(losses[0][i] - losses[1][i]));
  EXPECT_GT(largest, 0);
  // An operand of 8 bits is off by up to 2^-9 of its size; 200 updates add to that.
  EXPECT_LT(largest, 0.02 * losses[0].front());
}

class TrainingTest : public testing::TestWithParam<std::string> {};

TEST_P(TrainingTest, ASteadyUpdateAsksTheSystemForNothing) {
  Recipe recipe = small_recipe_that_ends(GetParam());
  recipe.trainer.clip = 0.1;
  Training training(recipe, 11, small_text);
  updates(training, 3);
  const size_t before = memory_statistics(Device::cpu).system_allocations;
  updates(training, 5);
  EXPECT_EQ(memory_statistics(Device::cpu).system_allocations, before);
}

TEST(Training, RefusesLinesOfATextWithoutALineEnd) {
  Recipe recipe = small_recipe_that_ends("gru");
  recipe.language_model().train.batches.batching = Batching::lines;
  EXPECT_EQ(error_of([&] { Training(recipe, 11, small_text); }),
            "data.batching = \"lines\": the training text has no line end");
}

TEST(Training, RefusesABatchThatScoresOrReportsNothing) {
  struct Silent : LanguageModelling {
    using LanguageModelling::LanguageModelling;
    bool next_batch(Batch& batch) override {
      const bool more = LanguageModelling::next_batch(batch);
      if (scores_nothing) batch.scored = 0;
      return more;
    }
    Loss loss(int64_t, const std::vector<Tokens>&, RandomContext) override { return {}; }
    void carry_state(int64_t) override {}
    bool scores_nothing = true;
  };
  LanguageModel model({{.embedding = 4}, {5}}, 11);
  Silent silent(model, {}, small_text, small_text);
  const auto step = [&] {
    Trainer trainer(silent, {});
    trainer.next_batch();
    trainer.step();
  };
  EXPECT_EQ(any_error_of(step), "[trainer] a batch scores 0 items: next_batch() sets Batch::scored");
  silent.scores_nothing = false;
  EXPECT_EQ(any_error_of(step),
            "[trainer] loss() reports nothing: return the losses of what the batch scores in Loss::reported");
  EXPECT_EQ(any_error_of([&] { Trainer(silent, {}).validated({}); }),
            "[scores] no metric: an evaluation sets one or more");
}

TEST(Training, AModelWithoutMemoryIsNotSaved) {
  struct Empty : Module {
    Linear layer{*this, "layer", 2, 3};
  } model;
  const TemporaryFolder folder;
  const auto save = [&] { save_model(folder / "m.safetensors", model); };
  EXPECT_EQ(any_error_of(save), "[model] call finalize() first");
  model.finalize(1, 0, Device::meta);
  EXPECT_EQ(any_error_of(save),
            "[model] on the device meta it has no values: allocate() it on another first");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

INSTANTIATE_TEST_SUITE_P(EveryCell, TrainingTest, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

TEST(Training, PenaltiesAreNotInTheLossThatIsLogged) {
  const Recipe recipe = averaging_recipe(), plain = averaging_recipe();
  plain.language_model().train.activation_regularization =
      plain.language_model().train.temporal_regularization = 0;
  Training with(recipe, 11, small_text), without(plain, 11, small_text);
  with.trainer.next_batch();
  without.trainer.next_batch();
  EXPECT_EQ(update(with).loss, update(without).loss);
}

TEST(Training, TheRateOfAStepIsInProportionToItsOwnChunk) {
  Recipe recipe = averaging_recipe();
  Training training(recipe, 11, small_text);
  std::set<int64_t> lengths;
  while (training.trainer.next_batch()) {
    EXPECT_DOUBLE_EQ(update(training).learning_rate,
                     0.5 * static_cast<double>(training.task.chunk().steps) / 7);
    lengths.insert(training.task.chunk().steps);
  }
  EXPECT_GT(lengths.size(), 2u);
  recipe.language_model().train.loss = LossScale::sum_over_time;
  Training sums(recipe, 11, small_text);
  while (sums.trainer.next_batch()) EXPECT_EQ(update(sums).learning_rate, 0.5);
}

// The gradients are those of the weights with the update's noise, the update is of the weights without.
TEST(Training, WithWeightNoiseUpdatesTheWeightsWithoutIt) {
  Recipe recipe = small_recipe("lstm");
  recipe.language_model().model.dropout = 0;
  recipe.trainer.optimizer = {.kind = OptimizerKind::sgd};
  set(recipe, "train.learning_rate=0.5 train.weight_noise=0.1");
  Training noisy(recipe, 11, small_text);
  recipe.trainer.weight_noise = 0;
  Training plain(recipe, 11, small_text);
  const std::vector<real> start = plain.model.values().to_vector();
  for (Training* it : {&noisy, &plain}) ASSERT_TRUE(it->trainer.next_batch());
  const double loss = update(noisy).loss;
  {
    const NoisyWeights as_drawn(plain.model.values(), plain.model.segments(), 0.1,
                                {.seed = static_cast<uint64_t>(recipe.trainer.seed), .update = 0});
    const std::vector<real> perturbed = plain.model.values().to_vector();
    EXPECT_EQ(update(plain).loss, loss);
    const std::vector<real> moved = plain.model.values().to_vector(), now = noisy.model.values().to_vector();
    for (size_t i = 0; i < start.size(); ++i) ASSERT_NEAR(now[i] - start[i], moved[i] - perturbed[i], 1e-6);
  }
  for (Training* it : {&noisy, &plain}) updates(*it, 1);
  EXPECT_NE(noisy.model.values().to_vector(), plain.model.values().to_vector());
}

// ---- trained initial states: when they learn, and files ----

Recipe recipe_of(Batching batching) {
  Recipe recipe = small_recipe("lstm");
  recipe.language_model().model.trained_initial_states = true;
  recipe.language_model().train.batches.batching = batching;
  recipe.trainer.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1};
  return recipe;
}

std::vector<real> h0_of(const Training& training) {
  return value_of(training.model, "rnn.h0_l1").to_vector();
}

TEST(TrainedInitialStatesOfLanguageModels, LearnWhereAStateBegins) {
  Training crops(recipe_of(Batching::crops), 11, small_text, 0);
  for (int step = 0; step < 3; ++step) {
    const std::vector<real> before = h0_of(crops);
    advance(crops, 1);
    EXPECT_NE(h0_of(crops), before) << "every sequence begins with it";
  }
  Recipe recipe = recipe_of(Batching::streams);
  recipe.language_model().train.reset_every = 3;
  Training streams(recipe, 11, small_text, 0);
  std::vector<bool> learns;
  for (int step = 0; step < 7; ++step) {
    const std::vector<real> before = h0_of(streams);
    advance(streams, 1);
    learns.push_back(h0_of(streams) != before);
  }
  EXPECT_EQ(learns, (std::vector<bool>{true, false, false, true, false, false, true}));
}

}  // namespace
}  // namespace rondo
