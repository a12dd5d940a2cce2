// A training as an object: saving in the middle of an epoch and going on ends with the same bytes, for every
// cell.
#include "lm/training.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/cells/cell.h"
#include "tensor/allocator.h"
#include "tests/lm/temporary_folder.h"

namespace rondo {
namespace {

std::vector<int32_t> some_ids() {
  std::vector<int32_t> ids(400);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * i + i / 3) % 11);
  return ids;
}

Recipe small_recipe(const std::string& cell) {
  Recipe recipe;
  recipe.model.cell = cell;
  recipe.model.layers = 2;
  recipe.model.embedding = 6;
  recipe.model.hidden = {6};
  recipe.model.dropout = 0.3;
  recipe.train.batch = 4;
  recipe.train.micro_batch = 2;
  recipe.train.length = 7;
  recipe.train.optimizer = "adam";
  recipe.train.schedule = "plateau";
  recipe.train.early_stopping = 3;
  return recipe;
}

void updates(Training& training, int count) {
  Chunk chunk;
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(training.next_chunk(chunk));
    training.update(chunk);
  }
}

class TrainingTest : public testing::TestWithParam<std::string> {};

TEST_P(TrainingTest, GoesOnFromASavedStateWithTheSameBits) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  const Recipe recipe = small_recipe(GetParam());
  Training whole(recipe, 11, ids), resumed(recipe, 11, ids);
  updates(whole, 3);
  EXPECT_TRUE(whole.validated(2.5));
  EXPECT_FALSE(whole.validated(2.75));
  whole.save(folder / "state", 42);
  EXPECT_EQ(resumed.load(folder / "state"), 42);
  EXPECT_EQ(resumed.step(), 3);
  EXPECT_EQ(resumed.best(), 2.5);
  EXPECT_EQ(resumed.learning_rate(), whole.learning_rate());
  EXPECT_TRUE(resumed.is_validated());
  updates(whole, 4);
  updates(resumed, 4);
  EXPECT_FALSE(resumed.is_validated());
  EXPECT_EQ(resumed.model().values().to_vector(), whole.model().values().to_vector());
}

TEST_P(TrainingTest, ASteadyUpdateAsksTheSystemForNothing) {
  Recipe recipe = small_recipe(GetParam());
  recipe.train.clip = 0.1;
  const std::vector<int32_t> ids = some_ids();
  Training training(recipe, 11, ids);
  updates(training, 3);
  const size_t before = memory_statistics(Device::cpu).system_allocations;
  updates(training, 5);
  EXPECT_EQ(memory_statistics(Device::cpu).system_allocations, before);
}

/// All that acts on cells from outside.
Recipe rich_recipe(const std::string& batching) {
  Recipe recipe = small_recipe("gru");
  recipe.data.batching = batching;
  recipe.model.major_ratio = {0.5, 0.7};
  recipe.model.minor_input = "previous_layer";
  recipe.model.variational = true;
  recipe.model.recurrent_dropout = 0.2;
  recipe.model.zoneout = 0.3;
  return recipe;
}

class TrainingOnBatches : public testing::TestWithParam<std::string> {};

TEST_P(TrainingOnBatches, GoesOnFromASavedStateWithTheSameBits) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  const Recipe recipe = rich_recipe(GetParam());
  Training whole(recipe, 11, ids, 3), resumed(recipe, 11, ids, 3);
  Chunk chunk;
  int64_t symbols = 0;
  while (whole.next_chunk(chunk)) symbols += whole.update(chunk).symbols;
  EXPECT_EQ(symbols, whole.symbols_per_epoch());
  EXPECT_EQ(whole.updates_this_epoch(), whole.updates_per_epoch());
  whole.begin_next_epoch();
  updates(whole, 2);
  whole.save(folder / "state", 0);
  resumed.load(folder / "state");
  EXPECT_EQ(resumed.updates_this_epoch(), 2);
  updates(whole, 3);
  updates(resumed, 3);
  EXPECT_EQ(resumed.model().values().to_vector(), whole.model().values().to_vector());
}

// The order of the lines in a batch, and the padding behind them, change nothing.
TEST(Training, PaddingChangesNothing) {
  const std::vector<int32_t> ids = {1, 2, 3, 0, 4, 0};  // two lines
  Recipe recipe = small_recipe("gru");
  recipe.model.dropout = 0;
  recipe.train.micro_batch = 0;
  recipe.data.batching = "lines";
  const auto trained = [&](int64_t batch) {
    recipe.train.batch = batch;
    Training training(recipe, 11, ids, 0);
    updates(training, 1);
    return training.model().values().to_vector();
  };
  const auto two = trained(2), five = trained(5);
  for (size_t i = 0; i < two.size(); ++i) ASSERT_NEAR(two[i], five[i], 1e-5);
}

TEST(Training, RefusesLinesOfATextWithoutALineEnd) {
  Recipe recipe = small_recipe("gru");
  recipe.data.batching = "lines";
  EXPECT_EQ(error_of([&] { Training(recipe, 11, some_ids()); }),
            "data.batching = \"lines\": the training text has no line end");
}

INSTANTIATE_TEST_SUITE_P(EveryBatching, TrainingOnBatches, testing::Values("streams", "lines", "crops"),
                         [](const auto& instance) { return instance.param; });

INSTANTIATE_TEST_SUITE_P(EveryCell, TrainingTest, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

TEST(Training, MicroBatchesTrainAsTheWholeBatchDoes) {
  const std::vector<int32_t> ids = some_ids();
  Recipe recipe = rich_recipe("streams");
  Training parts(recipe, 11, ids);
  recipe.train.micro_batch = 0;
  Training whole(recipe, 11, ids);
  updates(parts, 3);
  updates(whole, 3);
  const std::vector<real> a = parts.model().values().to_vector(), b = whole.model().values().to_vector();
  // Sums in another order; Adam divides by small numbers.
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << i;
}

TEST(Training, RefusesNumbersThatNoTrainingHas) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  Training training(small_recipe("gru"), 11, ids);
  training.save(folder / "state", 0);
  const Safetensors good = Safetensors::read(folder / "state");
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"step", "-5"},
                                                        {"step", "nan"},
                                                        {"step", "1.5"},
                                                        {"epoch", "0"},
                                                        {"position", "1000000"},
                                                        {"validation.best", "nan"},
                                                        {"schedule.decays", "-1"}}) {
    Metadata numbers = good.metadata();
    numbers[name] = value;
    write_safetensors(folder / "bad", good.tensors(), numbers);
    EXPECT_NE(error_of([&] { training.load(folder / "bad"); }).find("bad: "), std::string::npos) << name;
  }
}

TEST(Training, CountsItsSecondsAcrossResumes) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  Training first(small_recipe("gru"), 11, ids), second(small_recipe("gru"), 11, ids);
  EXPECT_EQ(first.seconds(), 0);
  updates(first, 2);
  EXPECT_GT(first.seconds(), 0);
  first.save(folder / "state", 0);
  second.load(folder / "state");
  EXPECT_EQ(second.seconds(), first.seconds());
  updates(second, 2);
  EXPECT_GT(second.seconds(), first.seconds());
}

TEST(LoadModel, RefusesWeightsThatAreNotFinite) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  Training training(small_recipe("rnn"), 11, ids);
  training.model().values().write()[0] = NAN;
  save_model(folder / "model", training.model());
  EXPECT_NE(error_of([&] { load_model(folder / "model", training.model()); }).find("not finite"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo
