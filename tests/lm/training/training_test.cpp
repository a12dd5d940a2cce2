// A training as an object: saving in the middle of an epoch and going on ends with the same bytes, for every
// cell.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lm/program/model.h"
#include "nn/cells/cell.h"
#include "optim/weight_noise.h"
#include "tensor/allocator.h"
#include "tensor/precision.h"
#include "tests/lm/training/small_training.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

/// With what ends a training.
Recipe small_recipe_that_ends(const std::string& cell) {
  Recipe recipe = small_recipe(cell);
  recipe.trainer.schedule.kind = ScheduleKind::plateau;
  recipe.trainer.early_stopping = 3;
  recipe.trainer.weight_noise = 0.05;
  return recipe;
}

void updates(Training& training, int count) {
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(training.trainer.next_batch());
    update(training);
  }
}

TEST(TrainingInBf16, LosesWhatATrainingInFp32Loses) {
  Recipe recipe = small_recipe("lstm");
  recipe.model.embedding = 24;
  recipe.model.hidden = {40};
  recipe.trainer.optimizer.learning_rate = 0.005;
  const std::vector<int32_t> ids = some_ids();
  std::vector<double> losses[2];
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const WithPrecision in(precision);
    Training training(recipe, 11, ids);
    for (int i = 0; i < 200; ++i) {
      if (!training.trainer.next_batch()) {
        training.trainer.begin_next_epoch();
        ASSERT_TRUE(training.trainer.next_batch());
      }
      const StepMetrics metrics = update(training);
      losses[precision == Precision::bf16].push_back(metrics.loss / double(metrics.scored));
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

TEST_P(TrainingTest, GoesOnFromASavedStateWithTheSameBits) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  const Recipe recipe = small_recipe_that_ends(GetParam());
  Training whole(recipe, 11, ids), resumed(recipe, 11, ids);
  updates(whole, 3);
  EXPECT_TRUE(whole.trainer.validated({.value = 2.5}));
  EXPECT_FALSE(whole.trainer.validated({.value = 2.75}));
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

TEST_P(TrainingTest, ASteadyUpdateAsksTheSystemForNothing) {
  Recipe recipe = small_recipe_that_ends(GetParam());
  recipe.trainer.clip = 0.1;
  const std::vector<int32_t> ids = some_ids();
  Training training(recipe, 11, ids);
  updates(training, 3);
  const size_t before = memory_statistics(Device::cpu).system_allocations;
  updates(training, 5);
  EXPECT_EQ(memory_statistics(Device::cpu).system_allocations, before);
}

/// Lines of these lengths, each with an end, 0.
std::vector<int32_t> lines_of(int32_t count, int32_t (*length)(int32_t)) {
  std::vector<int32_t> ids;
  for (int32_t line = 0; line < count; ++line) {
    for (int32_t t = 0; t < length(line); ++t) ids.push_back(1 + (5 * line + t * t + t / 3) % 9);
    ids.push_back(0);
  }
  return ids;
}

// With a mask, of which nothing comes here, a chunk is read with its padding; without one in pieces.
void expect_same_updates_without_padding(const std::string& cell, int64_t batch, int64_t micro_batch,
                                         const std::vector<int32_t>& ids, double tolerance) {
  SCOPED_TRACE(cell);
  Recipe pieces = small_recipe(cell);
  pieces.task.batches.batching = Batching::lines;
  pieces.model.dropout = 0;
  pieces.task.batches.batch = batch;
  pieces.task.micro_batch = micro_batch;
  pieces.trainer.optimizer.kind = OptimizerKind::sgd;
  Recipe padded = pieces;
  padded.model.regularization.dropout = 1e-12;
  Training a(pieces, 11, ids, 0), b(padded, 11, ids, 0);
  while (a.trainer.next_batch() && b.trainer.next_batch()) {
    const StepMetrics in_pieces = update(a), whole = update(b);
    EXPECT_NEAR(in_pieces.loss, whole.loss, tolerance * whole.loss);
    EXPECT_NEAR(in_pieces.gradient_norm, whole.gradient_norm, tolerance * whole.gradient_norm);
  }
  EXPECT_GE(a.trainer.step_count(), 2);
}

TEST(Training, LinesWithoutTheirPaddingGiveTheSameUpdates) {
  // The last chunk has one row, and with micro-batches of two one without any.
  const std::vector<int32_t> ids = lines_of(13, [](int32_t line) { return line * line % 53; });
  for (const char* cell : {"lstm", "mgru"})
    for (const int64_t micro_batch : {0, 2})
      expect_same_updates_without_padding(cell, 4, micro_batch, ids, 1e-5);
  // Statistics of few rows magnify what floats round, so here are many, and more is allowed.
  expect_same_updates_without_padding(
      "bn_lstm", 24, 0, lines_of(48, [](int32_t line) { return line % 3 == 0 ? 20 : 37; }), 1e-3);
}

/// All that acts on cells from outside.
Recipe rich_recipe(Batching batching) {
  Recipe recipe = small_recipe_that_ends("gru");
  recipe.task.batches.batching = batching;
  recipe.model.major_ratio = {0.5, 0.7};
  recipe.model.minor_input = MinorInput::previous_layer;
  recipe.model.variational = true;
  recipe.model.regularization.dropout = 0.2;
  recipe.model.regularization.zoneout = 0.3;
  return recipe;
}

class TrainingOnBatches : public testing::TestWithParam<Batching> {};

TEST_P(TrainingOnBatches, GoesOnFromASavedStateWithTheSameBits) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  const Recipe recipe = rich_recipe(GetParam());
  Training whole(recipe, 11, ids, 3), resumed(recipe, 11, ids, 3);
  int64_t symbols = 0;
  while (whole.trainer.next_batch()) symbols += update(whole).scored;
  EXPECT_EQ(symbols, whole.task.scored_per_epoch());
  EXPECT_EQ(whole.task.share_of_epoch(), 1);
  whole.trainer.begin_next_epoch();
  updates(whole, 2);
  whole.trainer.save(folder / "state", 0);
  resumed.trainer.load(folder / "state");
  EXPECT_GT(resumed.task.share_of_epoch(), 0);
  EXPECT_EQ(resumed.task.share_of_epoch(), whole.task.share_of_epoch());
  updates(whole, 3);
  updates(resumed, 3);
  EXPECT_EQ(resumed.model.values().to_vector(), whole.model.values().to_vector());
}

TEST(Training, ZeroesTheStateAfterEverySoManySteps) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  for (const char* cell : {"lstm", "bn_lstm"}) {
    SCOPED_TRACE(cell);
    Recipe recipe = small_recipe(cell);
    recipe.task.reset_every = 3;
    Training training(recipe, 11, ids), resumed(recipe, 11, ids);
    const Tensor h({recipe.task.batches.batch, 6});
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

// The order of the lines in a batch, and the padding behind them, change nothing.
TEST(Training, PaddingChangesNothing) {
  const std::vector<int32_t> ids = {1, 2, 3, 0, 4, 0};  // two lines
  Recipe recipe = small_recipe_that_ends("gru");
  recipe.model.dropout = 0;
  recipe.task.micro_batch = 0;
  recipe.task.batches.batching = Batching::lines;
  const auto trained = [&](int64_t batch) {
    recipe.task.batches.batch = batch;
    Training training(recipe, 11, ids, 0);
    updates(training, 1);
    return training.model.values().to_vector();
  };
  const auto two = trained(2), five = trained(5);
  for (size_t i = 0; i < two.size(); ++i) ASSERT_NEAR(two[i], five[i], 1e-5);
}

/// The gradient of the first step of two models with the same weights; only the seeds of the trainings
/// differ.
void expect_gradients_of_seeds(double dropout, bool same) {
  const std::vector<int32_t> ids = some_ids();
  Recipe recipe = small_recipe("lstm");
  recipe.model.dropout = dropout;
  Training one(recipe, 11, ids);
  recipe.trainer.seed = 2;
  Training two(recipe, 11, ids);
  copy(one.model.values(), two.model.values());
  updates(one, 1);
  updates(two, 1);
  EXPECT_EQ(one.model.gradients().to_vector() == two.model.gradients().to_vector(), same);
}

TEST(Training, TheSeedIsThatOfDropout) {
  expect_gradients_of_seeds(0.3, false);
  expect_gradients_of_seeds(0, true);
}

TEST(Training, CropsNeedNoLineEnd) {
  Recipe recipe = small_recipe("gru");
  recipe.task.batches.batching = Batching::crops;
  const std::vector<int32_t> ids = some_ids();
  Training training(recipe, 11, ids);
  updates(training, 1);
  EXPECT_EQ(training.task.chunk().steps, 7);
}

TEST(Training, RefusesLinesOfATextWithoutALineEnd) {
  Recipe recipe = small_recipe_that_ends("gru");
  recipe.task.batches.batching = Batching::lines;
  EXPECT_EQ(error_of([&] { Training(recipe, 11, some_ids()); }),
            "data.batching = \"lines\": the training text has no line end");
}

INSTANTIATE_TEST_SUITE_P(EveryBatching, TrainingOnBatches,
                         testing::Values(Batching::streams, Batching::lines, Batching::crops),
                         [](const auto& instance) { return name_of(instance.param); });

INSTANTIATE_TEST_SUITE_P(EveryCell, TrainingTest, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

TEST(Training, MicroBatchesTrainAsTheWholeBatchDoes) {
  const std::vector<int32_t> ids = some_ids();
  Recipe recipe = rich_recipe(Batching::streams);
  Training parts(recipe, 11, ids);
  recipe.task.micro_batch = 0;
  Training whole(recipe, 11, ids);
  updates(parts, 3);
  updates(whole, 3);
  const std::vector<real> a = parts.model.values().to_vector(), b = whole.model.values().to_vector();
  // Sums in another order; Adam divides by small numbers.
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << i;
}

/// With what AWD-LSTM adds to a training.
Recipe averaging_recipe() {
  Recipe recipe = rich_recipe(Batching::streams);
  recipe.trainer.optimizer.kind = OptimizerKind::sgd;
  recipe.trainer.optimizer.learning_rate = 0.5;
  recipe.trainer.schedule.kind = ScheduleKind::constant;
  recipe.task.batches.chunks.deviation = 2;
  recipe.task.activation_regularization = 2;
  recipe.task.temporal_regularization = 3;
  recipe.trainer.averaging = Averaging::non_monotonic;
  recipe.trainer.averaging_interval = 1;
  recipe.trainer.early_stopping = 0;
  return recipe;
}

TEST(Training, MicroBatchesHaveTheirShareOfThePenalties) {
  const std::vector<int32_t> ids = some_ids();
  Recipe recipe = averaging_recipe();
  Training parts(recipe, 11, ids);
  recipe.task.micro_batch = 0;
  Training whole(recipe, 11, ids);
  recipe.task.activation_regularization = 0;
  Training without_activation(recipe, 11, ids);
  recipe.task.activation_regularization = 2;
  recipe.task.temporal_regularization = 0;
  Training without_temporal(recipe, 11, ids);
  const auto gradients = [](Training& training) {
    training.trainer.next_batch();
    update(training);
    return training.model.gradients().to_vector();
  };
  const auto a = gradients(parts), b = gradients(whole), c = gradients(without_activation),
             d = gradients(without_temporal);
  double by_activation = 0, by_time = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], 1e-6) << i;
    by_activation = std::max(by_activation, std::fabs(double{b[i]} - c[i]));
    by_time = std::max(by_time, std::fabs(double{b[i]} - d[i]));
  }
  EXPECT_GT(by_activation, 1e-4);
  EXPECT_GT(by_time, 1e-4);
}

TEST(Training, PenaltiesAreNotInTheLossThatIsLogged) {
  const std::vector<int32_t> ids = some_ids();
  Recipe recipe = averaging_recipe(), plain = recipe;
  plain.task.activation_regularization = plain.task.temporal_regularization = 0;
  Training with(recipe, 11, ids), without(plain, 11, ids);
  with.trainer.next_batch();
  without.trainer.next_batch();
  EXPECT_EQ(update(with).loss, update(without).loss);
}

TEST(Training, TheRateOfAStepIsInProportionToItsOwnChunk) {
  const std::vector<int32_t> ids = some_ids();
  Recipe recipe = averaging_recipe();
  Training training(recipe, 11, ids);
  std::set<int64_t> lengths;
  while (training.trainer.next_batch()) {
    EXPECT_DOUBLE_EQ(update(training).learning_rate,
                     0.5 * static_cast<double>(training.task.chunk().steps) / 7);
    lengths.insert(training.task.chunk().steps);
  }
  EXPECT_GT(lengths.size(), 2u);
  recipe.task.loss = LossScale::sum_over_time;
  Training sums(recipe, 11, ids);
  while (sums.trainer.next_batch()) EXPECT_EQ(update(sums).learning_rate, 0.5);
}

TEST(Training, RefusesMicroBatchesThatDoNotDivideTheBatch) {
  const std::vector<int32_t> ids = some_ids();
  LanguageModel model({.hidden = {4}}, 11);
  LanguageModellingOptions options;
  for (const int64_t micro_batch : {3, -1, 40}) {
    options.micro_batch = micro_batch;
    EXPECT_EQ(
        error_of([&] { LanguageModelling(model, options, ids); }),
        micro_batch < 0
            ? "micro_batch = -1: expected an integer, at least 0"
            : fmt::format("micro_batch = {} does not divide the batch of 20: set it to a divisor, or to 0",
                          micro_batch));
  }
}

TEST(Training, RefusesANegativeClip) {
  Recipe recipe = small_recipe("rnn");
  recipe.trainer.clip = -1;
  const std::vector<int32_t> ids = some_ids();
  EXPECT_THROW(Training(recipe, 11, ids), InputError);
}

// What it has staged, and has not told, is of the training before.
TEST(Training, BeginsAnewWithAState) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  Training training(small_recipe("rnn"), 11, ids);
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

TEST(StateFile, HoldsNoNameTwice) {
  StateFileWriter file;
  file.add("step", int64_t{1});
  EXPECT_THROW(file.add("step", 2.0), Error);
}

// The whole way: raw weights; the trigger; their average, which is evaluated while they go on.
// The gradients are those of the weights with the update's noise, the update is of the weights without.
TEST(Training, WithWeightNoiseUpdatesTheWeightsWithoutIt) {
  Recipe recipe = small_recipe("lstm");
  recipe.model.dropout = 0;
  recipe.trainer.optimizer = {.kind = OptimizerKind::sgd};
  recipe.trainer.optimizer.learning_rate = 0.5;
  recipe.trainer.weight_noise = 0.1;
  const std::vector<int32_t> ids = some_ids();
  Training noisy(recipe, 11, ids);
  recipe.trainer.weight_noise = 0;
  Training plain(recipe, 11, ids);
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

TEST(Training, AveragesFromTheTriggerOn) {
  const std::vector<int32_t> ids = some_ids();
  Recipe recipe = averaging_recipe();
  Training training(recipe, 11, ids);
  recipe.trainer.averaging = Averaging::never;
  Training raw(recipe, 11, ids);
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
    training.trainer.validated({.value = loss});
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

TEST(Training, AveragingGoesOnFromASavedStateWithTheSameBits) {
  const std::vector<int32_t> ids = some_ids();
  const TemporaryFolder folder;
  for (const Averaging averaging : {Averaging::non_monotonic, Averaging::always}) {
    for (const int64_t saved_after : {2, 4}) {  // evaluations: before the trigger and after it
      Recipe recipe = averaging_recipe();
      recipe.trainer.averaging = averaging;
      Training whole(recipe, 11, ids), resumed(recipe, 11, ids);
      const std::vector<double> losses = {2.5, 2.25, 3, 2, 2.75};
      const auto train = [&](Training& training, int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) {
          updates(training, 1);
          training.trainer.validated({.value = losses[static_cast<size_t>(i)]});
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

TEST(Training, TheNonMonotonicCriterionEndsIt) {
  const std::vector<int32_t> ids = some_ids();
  const TemporaryFolder folder;
  Recipe recipe = averaging_recipe();
  recipe.trainer.averaging = Averaging::always;
  recipe.trainer.non_monotonic_stopping = true;
  recipe.trainer.epochs = 1;
  Training training(recipe, 11, ids);
  training.trainer.set_figure_to_beat({.value = 1});  // to be beaten, but no loss of this training
  EXPECT_TRUE(training.trainer.is_validated());
  for (const double loss : {3.0, 2.0, 2.5, 1.5, 2.25}) {
    EXPECT_FALSE(training.trainer.done()) << loss;
    EXPECT_FALSE(training.trainer.validated({.value = loss})) << "not better than the begin";
    training.trainer.save(folder / "state", 0);
    EXPECT_EQ(is_finished(recipe.trainer, folder / "state"), training.trainer.done());
  }
  EXPECT_TRUE(training.trainer.done());
  Training resumed(recipe, 11, ids);
  resumed.trainer.load(folder / "state");
  EXPECT_TRUE(resumed.trainer.done());
  EXPECT_TRUE(resumed.trainer.has_best());
  EXPECT_EQ(resumed.trainer.ended_by(), "validation no longer falls");
  resumed.trainer.begin_next_epoch();
  EXPECT_EQ(resumed.trainer.ended_by(), "") << "all its epochs are trained";
}

TEST(Training, CountsItsSecondsAcrossResumes) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  Training first(small_recipe_that_ends("gru"), 11, ids), second(small_recipe_that_ends("gru"), 11, ids);
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
