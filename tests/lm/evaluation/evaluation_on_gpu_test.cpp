// An evaluation on a GPU, whose chunks are replayed: the figures of reading chunk by chunk, bit for bit, and
// those of the CPU.
#include "lm/evaluation/evaluation.h"

#include "tensor/products/precision.h"
#include "tests/cuda/device.h"
#include "tests/lm/training/small_training.h"

namespace rondo {
namespace {

Recipe recipe_of(const std::string& cell, const std::string& settings = "") {
  Recipe recipe = small_recipe(cell);
  set(recipe, "model.embedding_range=1 model.recurrent_init=uniform model.recurrent_range=1 " + settings);
  return recipe;
}

/// Reads chunk by chunk, without graphs.
Evaluation plainly_read(LanguageModel& model, std::span<const int32_t> ids, int64_t streams) {
  const NoGradient guard;
  Evaluation sums;
  Streams text = Streams::for_evaluation(ids, streams);
  read_chunks(
      model, [&](Chunk& chunk) { return text.next(steps_at_once(streams), chunk); },
      [&](const ChunkResult& read) { sums.add(read.chunk.targets, read.nats(), 3); });
  return sums;
}

TEST(EvaluationOnGpu, ReplayedIsEager) {
  NEED_GPU();
  const std::vector<int32_t> ids = some_ids(300 * 6 + 1);  // no padding
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    for (const Recipe& recipe : {recipe_of("lstm"), recipe_of("mi_gru", "model.trained_initial_states=true"),
                                 recipe_of("mlstm", "model.experts=3 model.weight_drop=0.3")}) {
      if (precision == Precision::bf16 && recipe.language_model().model.experts == 1) continue;
      const WithPrecision in_force(precision);
      Training training(recipe, 11, ids, {}, Device::cuda);
      ASSERT_TRUE(training.model.can_be_recorded());
      for (const int64_t streams : {100, 150}) {  // before a step, and after two
        const Evaluation got = evaluate_ids(training.model, ids, {.streams = streams}, 3),
                         plain = plainly_read(training.model, ids, streams);
        EXPECT_EQ(got.nats_sum, plain.nats_sum) << recipe.language_model().model.cell << streams;
        EXPECT_EQ(got.known_nats_sum, plain.known_nats_sum);
        EXPECT_EQ(got.symbols, std::ssize(ids) - 1);
        EXPECT_EQ(got.unknowns, plain.unknowns);
        advance(training, 2);
      }
    }
  for (const Recipe& recipe :
       {recipe_of("lstm", "model.output=adaptive model.cutoffs=[4]"), recipe_of("bn_lstm")})
    EXPECT_FALSE(LanguageModel(model_options(recipe.language_model()), 11).can_be_recorded());
}

TEST(EvaluationOnGpu, IsTheCpus) {
  NEED_GPU();
  std::vector<int32_t> ids = some_ids(3000);
  for (const Recipe& recipe : {recipe_of("lstm"), recipe_of("gru", "model.trained_initial_states=true")}) {
    LanguageModel on_cpu(model_options(recipe.language_model()), 11),
        on_gpu(model_options(recipe.language_model()), 11, 1, Device::cuda);
    for (const Reading& reading : {Reading{.streams = 1},
                                   {.streams = 40},
                                   {.streams = 40, .warm_up = 30},
                                   {.line_end = 3},
                                   {.sequence = 40}}) {
      const Evaluation expected = evaluate_ids(on_cpu, ids, reading),
                       got = evaluate_ids(on_gpu, ids, reading);
      EXPECT_NEAR(got.nats(), expected.nats(), 1e-5) << reading.text();
      EXPECT_EQ(got.symbols, expected.symbols) << reading.text();
    }
  }
}

// More symbols than losses are kept on the GPU at a time.
TEST(EvaluationOnGpu, CollectsTheLossesOfALongTextInParts) {
  NEED_GPU();
  const std::vector<int32_t> ids = some_ids((1 << 15) + 2048 + 1);
  const LanguageModelOptions options = model_options(recipe_of("rnn", "model.layers=1").language_model());
  LanguageModel on_cpu(options, 11), on_gpu(options, 11, 1, Device::cuda);
  const Evaluation expected = evaluate_ids(on_cpu, ids, {.streams = 256}, 3),
                   got = evaluate_ids(on_gpu, ids, {.streams = 256}, 3);
  EXPECT_NEAR(got.nats(), expected.nats(), 1e-5);  // as above: floats are added in another order
  EXPECT_EQ(got.symbols, std::ssize(ids) - 1);
}

}  // namespace
}  // namespace rondo
