// What only an emulated GPU can count: that the host neither waits nor copies anything but one block a step.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>

#include "cuda/runtime.h"
#include "nn/cells/join.h"
#include "tensor/allocator.h"
#include "tensor/products/precision.h"
#include "tests/emulated_gpu/emulated_gpu.h"
#include "tests/lm/tasks/reversal_training.h"
#include "tests/lm/training/small_training.h"

namespace rondo {
namespace {

emulated_gpu::Counts counts_while(const std::function<void()>& work) {
  const emulated_gpu::Counts before = emulated_gpu::counts();
  work();
  emulated_gpu::Counts counts = emulated_gpu::counts();
  counts.uploads -= before.uploads, counts.graph_launches -= before.graph_launches;
  counts.waits -= before.waits, counts.queued -= before.queued;
  counts.system_allocations -= before.system_allocations;
  return counts;
}

TEST(EmulatedGpu, AStepIsOneUploadAndOneGraphAndNoWait) {
  const std::vector<int32_t> ids = some_ids(4000);
  for (const Batching batching : {Batching::streams, Batching::crops}) {
    Recipe recipe = small_recipe("lstm");
    recipe.trainer.clip = 0.25;
    recipe.language_model().train.batches.batching = batching;
    Training training(recipe, 11, ids, {}, Device::cuda);
    advance(training, 2);
    const emulated_gpu::Counts counts = counts_while([&] { advance(training, 20); });
    EXPECT_EQ(counts.waits, 0);
    EXPECT_EQ(counts.uploads, 20);
    EXPECT_EQ(counts.graph_launches, 20);
    EXPECT_EQ(counts.system_allocations, 0);
  }
}

// The first chunk runs eagerly, the second is recorded. The last one has fewer steps.
TEST(EmulatedGpu, AnEvaluatedChunkIsOneUploadAndOneGraphAndNoWait) {
  const std::vector<int32_t> ids = some_ids(12 * rows_at_once + 50);
  for (const int64_t streams : {1, 8}) {
    Training training(small_recipe("lstm"), 11, ids, {}, Device::cuda);
    const auto counts_of = [&](int64_t chunks) {
      const auto size = static_cast<size_t>(chunks * rows_at_once + 41);
      return counts_while(
          [&] { evaluate_ids(training.model, std::span(ids).first(size), {.streams = streams}); });
    };
    const emulated_gpu::Counts few = counts_of(4), many = counts_of(12);
    EXPECT_EQ(few.graph_launches, 3) << streams;
    EXPECT_EQ(many.graph_launches, few.graph_launches + 8) << streams;
    EXPECT_EQ(many.uploads, few.uploads + 8) << streams;
    EXPECT_EQ(many.waits, few.waits) << streams;
    EXPECT_EQ(many.queued, few.queued + 3 * 8) << streams << ": nothing but upload, mark and graph";
  }
}

// Sentences of different lengths, with a few lengths of padding: in the second epoch all are recorded.
TEST(EmulatedGpu, AStepOfATranslatorIsOneUploadAndOneGraphAndNoWait) {
  EncoderDecoderOptions options = small_encoder_decoder();
  options.attention = Score::general;
  ReversalTraining training({.batches = {.order = {.batch = 20}}}, options, 600, Device::cuda);
  training.advance(90);
  const auto counts_of = [&](int steps) {  // and of asking for their loss
    return counts_while([&] { training.advance(steps); });
  };
  const emulated_gpu::Counts one = counts_of(1), many = counts_of(31);
  EXPECT_EQ(many.graph_launches, 31);
  EXPECT_EQ(many.uploads, 31);
  EXPECT_EQ(many.waits, one.waits);
  EXPECT_EQ(many.queued, one.queued + 3 * 30) << "nothing but upload, mark and graph";
  EXPECT_EQ(many.system_allocations, 0);
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

// The models of bench/awd-lstm-b20.toml, awd-lstm-b80.toml and awd-lstm-mos-b12.toml in narrow: how many
// launches a step has does not depend on widths. 44 streams have two blocks of the loss's rows, as 80 have.
// In bf16 a step rounds only what none of its kernels rounds while it writes, and that once: three input and
// three recurrent weights and the tied one, the first states of three layers, and the embeddings. One launch
// more sets to zero what lies between the rounded states of 4 units.
TEST(EmulatedGpu, LaunchesOfAStepOfAwdLstm) {
  struct Model {
    Precision precision;
    int64_t batch, experts, expected;
  };
  for (const auto& [precision, batch, experts, expected] : {Model{Precision::fp32, 44, 1, 890},
                                                            {Precision::fp32, 12, 15, 932},
                                                            {Precision::bf16, 20, 1, 896},
                                                            {Precision::bf16, 44, 1, 902},
                                                            {Precision::bf16, 12, 15, 953}}) {
    const WithPrecision in_force(precision);
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
    EXPECT_EQ(launches, expected) << "B " << batch << ", " << experts << " experts, precision "
                                  << static_cast<int>(precision);
  }
}

/// While it exists, nothing that is free now is left, and the GPU has no more memory than what is in use.
class NoMemoryLeft {
 public:
  NoMemoryLeft() {
    limit();
    EXPECT_THROW(allocate(Device::cuda, size_t{1} << 40), OutOfMemory);  // what was free went back
    limit();
  }
  ~NoMemoryLeft() { emulated_gpu::limit_memory(false); }
  NoMemoryLeft(const NoMemoryLeft&) = delete;
  NoMemoryLeft& operator=(const NoMemoryLeft&) = delete;
  static void limit() { emulated_gpu::limit_memory(true); }
};

TEST(EmulatedGpu, WhereMemoryIsShortThatOfStepsIsReturned) {
  const NoMemoryLeft limited;
  const auto new_block = [] { return Tensor({3 << 20}, Device::cuda); };
  EXPECT_THROW(new_block(), OutOfMemory);
  emulated_gpu::limit_memory(false);
  {
    const StepMemory of_steps(Device::cuda);
    const Tensor of_a_step({4 << 20}, Device::cuda);
  }
  NoMemoryLeft::limit();
  const int64_t before = StepMemory::returns(Device::cuda);
  const Tensor block = new_block();
  EXPECT_EQ(StepMemory::returns(Device::cuda), before + 1);
  fill(block, 1);
  EXPECT_EQ(block.slice_columns(0, 1).item(), 1);
}

TEST(EmulatedGpu, StepsWhoseMemoryWasReturnedAreRecordedAgain) {
  const std::vector<int32_t> ids = some_ids(4000);
  const auto trained = [&](bool memory_is_short) {
    Training training(small_recipe("lstm"), 11, ids, {}, Device::cuda);
    advance(training, 5);
    if (memory_is_short) const NoMemoryLeft now;
    const int64_t before = emulated_gpu::counts().graph_launches;
    advance(training, 5);
    EXPECT_EQ(emulated_gpu::counts().graph_launches, before + (memory_is_short ? 4 : 5));
    return std::pair(training.trainer.metrics().loss, training.model.values().to_vector());
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST(EmulatedGpu, NoGraphIsDestroyedWhileItRuns) {
  const std::vector<int32_t> ids = some_ids(4000);
  Training training(small_recipe("lstm"), 11, ids, {}, Device::cuda);
  advance(training, 5);  // nobody waits for their end
  const Tensor x = Tensor::filled({3}, 1, Device::cuda);
  std::make_unique<cuda::Graph>([&] { accumulate(x, x); })->launch();
  EXPECT_EQ(x.to_vector(), std::vector<real>(3, 2));
}

// The model of bench/char-mi-lstm.toml in narrow. A step in time has seven launches; none of them is for the
// gradients of the vectors of the integration, which are added up after all steps.
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
  EXPECT_EQ(launches_of(80) - launches_of(60), 20 * 7);
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
