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
#include "tensor/recorded_work.h"
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
  counts.waits -= before.waits, counts.queued -= before.queued, counts.launches -= before.launches;
  counts.unaligned -= before.unaligned, counts.ragged -= before.ragged;
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
  Training training(small_recipe("lstm"), 11, ids, {}, Device::cuda);
  for (const int64_t streams : {1, 8}) {
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
  const auto read_lines = [&] { evaluate_ids(training.model, ids, {.line_end = 3}); };
  EXPECT_EQ(counts_while(read_lines).graph_launches, 0) << "there are as many sizes as pieces";
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
// as the result has rows, and those have no pads: of an LSTM these are four gates, in fp32 16 bytes or a
// multiple of them; of others they may be one.)
TEST(EmulatedGpu, ProductsOfOddWidthsAreOfAlignedRows) {
  const std::vector<int32_t> ids = some_ids();
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    for (const std::string cell : {"lstm", "mlstm"})
      for (const int64_t experts : {1, 3}) {
        const WithPrecision in_force(precision);
        Recipe recipe = small_recipe(cell);
        set(recipe, "model.hidden=[7,9] model.embedding=5 model.variational=true model.weight_drop=0.3");
        if (experts > 1)  // whose vectors, one for each expert, lie side by side
          set(recipe, "model.experts=3 model.embedding=8");
        Training training(recipe, 12, ids, {}, Device::cuda);
        const emulated_gpu::Counts counts = counts_while([&] { advance(training, 3); });
        EXPECT_EQ(counts.unaligned, 0) << cell << ", " << experts;
        EXPECT_TRUE(counts.ragged == 0 || cell != "lstm" || precision == Precision::bf16) << experts;
      }
}

/// Of the second step, on a text of six.
int64_t launches_of_a_step(const Recipe& recipe) {
  const BatchOptions& batches = recipe.language_model().train.batches;
  const auto ids = some_ids(static_cast<size_t>(batches.batch * batches.chunks.length * 6 + 1));
  Training training(recipe, 11, ids, {}, Device::cuda);
  const auto step = [&] {
    advance(training, 1);
    training.trainer.metrics();  // all of it has run
  };
  step();
  return counts_while(step).launches;
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
    set(recipe,
        "model.layers=3 model.embedding=4 model.hidden=[8,8,4] model.dropout=0 model.tied=true "
        "model.weight_drop=0.5 model.biases=1 train.micro_batch=0 train.length=70 train.optimizer=sgd "
        "train.clip=0.25");
    set(recipe, fmt::format("model.experts={} train.batch={}", experts, batch));
    EXPECT_EQ(launches_of_a_step(recipe), expected)
        << "B " << batch << ", " << experts << " experts, precision " << static_cast<int>(precision);
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

TEST(EmulatedGpu, AfterABlockThatDidNotFitAnotherIsTaken) {
  RecordedWork work;
  work.stage({}, {{1}}, false);
  const NoMemoryLeft limited;
  EXPECT_THROW(work.stage({}, {some_ids(3 << 20)}, false), OutOfMemory);
  emulated_gpu::limit_memory(false);
  const Tokens staged = work.stage({}, {some_ids(3 << 18)}, false)[0];
  work.run({}, false, [] {});
  std::vector<int32_t> found(staged->size());
  cuda::download(found.data(), staged->on(Device::cuda), found.size() * sizeof found[0]);
  EXPECT_EQ(found, staged->values());
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
    set(recipe, fmt::format("train.length={}", length));
    return launches_of_a_step(recipe);
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
