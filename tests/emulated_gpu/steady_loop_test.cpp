// What only an emulated GPU can count: that the host neither waits nor copies anything but one block a step.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "nn/cells/join.h"
#include "tests/emulated_gpu/emulated_gpu.h"
#include "tests/lm/tasks/reversal_training.h"
#include "tests/lm/training/small_training.h"

namespace rondo {
namespace {

TEST(EmulatedGpu, AStepIsOneUploadAndOneGraphAndNoWait) {
  const std::vector<int32_t> ids = some_ids(4000);
  Recipe recipe = small_recipe("lstm");
  recipe.trainer.clip = 0.25;
  Training training(recipe, 11, ids, {}, Device::cuda);
  advance(training, 2);
  const emulated_gpu::Counts before = emulated_gpu::counts();
  advance(training, 20);
  const emulated_gpu::Counts& after = emulated_gpu::counts();
  EXPECT_EQ(after.waits, before.waits);
  EXPECT_EQ(after.uploads, before.uploads + 20);
  EXPECT_EQ(after.graph_launches, before.graph_launches + 20);
  EXPECT_EQ(after.system_allocations, before.system_allocations);
}

// Sentences of different lengths: which rows are padding differs from step to step, and no step is replayed.
TEST(EmulatedGpu, AStepOfSentencesDoesNotWait) {
  EncoderDecoderOptions options = small_encoder_decoder();
  options.attention = Score::general;
  ReversalTraining training({.batches = {.order = {.batch = 20}}}, options, 600, Device::cuda);
  training.advance(30);                   // an epoch: from now on no batch is larger than one before
  const auto waits_of = [&](int steps) {  // and of asking for their loss
    const int64_t before = emulated_gpu::counts().waits;
    training.advance(steps);
    return emulated_gpu::counts().waits - before;
  };
  EXPECT_EQ(waits_of(10), waits_of(1));
}

// Tensor cores load 16 bytes at once; whatever widths a model has, no product of a step is kept from it: rows
// begin at multiples of 16 bytes, and end there. (A factor that is transposed on the left has as many columns
// as the result has rows, and those have no pads: of an LSTM these are four gates, of others they may be
// one.)
TEST(EmulatedGpu, ProductsOfOddWidthsAreOfAlignedRows) {
  const std::vector<int32_t> ids = some_ids();
  for (const std::string cell : {"lstm", "mlstm"})
    for (const int64_t experts : {1, 3}) {
      Recipe recipe = small_recipe(cell);
      recipe.language_model().model.hidden = {7, 9};
      recipe.language_model().model.embedding = 5;
      recipe.language_model().model.variational = true;
      recipe.language_model().model.regularization.weight_drop = 0.3;
      recipe.language_model().model.experts = experts;
      if (experts > 1)
        recipe.language_model().model.embedding = 8;  // whose vectors, one for each expert, lie side by side
      Training training(recipe, 12, ids, {}, Device::cuda);
      const emulated_gpu::Counts before = emulated_gpu::counts();
      advance(training, 3);
      EXPECT_EQ(emulated_gpu::counts().unaligned, before.unaligned) << cell << ", " << experts;
      if (cell == "lstm") {
        EXPECT_EQ(emulated_gpu::counts().ragged, before.ragged) << cell << ", " << experts;
      }
    }
}

// The models of bench/awd-lstm-b80.toml and awd-lstm-mos-b12.toml in narrow: how many launches a step has
// does not depend on widths. 44 streams have two blocks of the loss's rows, as 80 have.
TEST(EmulatedGpu, LaunchesOfAStepOfAwdLstm) {
  struct Model {
    int64_t batch, experts, expected;
  };
  for (const auto& [batch, experts, expected] : {Model{44, 1, 890}, {12, 15, 932}}) {
    Recipe recipe = small_recipe("lstm");
    recipe.language_model().model.layers = 3;
    recipe.language_model().model.embedding = 4;
    recipe.language_model().model.hidden = {8, 8, 4};
    recipe.language_model().model.dropout = 0;
    recipe.language_model().model.tied = true;
    recipe.language_model().model.experts = experts;
    recipe.language_model().model.regularization.weight_drop = 0.5;
    recipe.language_model().model.cell_settings.of<GateBiasSettings>().biases = 1;
    recipe.language_model().train.batches.batch = batch;
    recipe.language_model().train.micro_batch = 0;
    recipe.language_model().train.batches.chunks.length = 70;
    recipe.trainer.optimizer.kind = OptimizerKind::sgd;
    recipe.trainer.clip = 0.25;
    const std::vector<int32_t> ids = some_ids(static_cast<size_t>(batch) * 70 * 6 + 1);
    Training training(recipe, 11, ids, {}, Device::cuda);
    advance(training, 1);
    training.trainer.metrics();  // all of it has run
    const int64_t before = emulated_gpu::counts().launches;
    advance(training, 1);
    training.trainer.metrics();
    const int64_t launches = emulated_gpu::counts().launches - before;
    EXPECT_EQ(launches, expected) << "B " << batch << ", " << experts << " experts";
  }
}

// The model of bench/char-mi-lstm.toml in narrow. A step in time has six launches: each of forward and
// backward has a product, the gates, and their integration, whose vectors' gradients are added up without
// one.
TEST(EmulatedGpu, LaunchesOfAStepOfMiLstm) {
  const auto launches_of = [](int64_t length) {
    Recipe recipe = small_recipe("mi_lstm");
    set(recipe,
        "model.layers=1 model.hidden=[8] model.dropout=0 model.biases=1 train.batch=32 train.micro_batch=0 "
        "train.clip=1");
    recipe.language_model().train.batches.chunks.length = length;
    const std::vector<int32_t> ids = some_ids(static_cast<size_t>(32 * length * 6 + 1));
    Training training(recipe, 11, ids, {}, Device::cuda);
    advance(training, 1);
    training.trainer.metrics();  // all of it has run
    const int64_t before = emulated_gpu::counts().launches;
    advance(training, 1);
    training.trainer.metrics();
    return emulated_gpu::counts().launches - before;
  };
  EXPECT_EQ(launches_of(100) - launches_of(80), 20 * 6);
}

TEST(EmulatedGpu, HandsOutNoMemoryThatCouldBeTakenForNumbers) {
  if (!std::getenv("RONDO_POISON_GPU_MEMORY")) GTEST_SKIP() << "not asked for";
  for (int i = 0; i < 2; ++i) {  // new, and used before
    const Tensor x({300}, Device::cuda);
    for (const real value : x.to_vector()) ASSERT_TRUE(std::isnan(value));
    fill(x, 1);
  }
}

}  // namespace
}  // namespace rondo
