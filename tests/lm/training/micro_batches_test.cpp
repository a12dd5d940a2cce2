// Micro-batches and padding change how a batch is computed, not what comes of it.
#include <gtest/gtest.h>

#include "tests/lm/training/small_training.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

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
  set(pieces, "data.batching=lines model.dropout=0");
  pieces.language_model().train.batches.batch = batch;
  pieces.language_model().train.micro_batch = micro_batch;
  pieces.trainer.optimizer.kind = OptimizerKind::sgd;
  Recipe padded = pieces;
  padded.language_model().model.regularization.dropout = 1e-12;
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

TEST(Training, MicroBatchesTrainAsTheWholeBatchDoes) {
  Recipe recipe = rich_recipe(Batching::streams);
  Training parts(recipe, 11, small_text);
  recipe.language_model().train.micro_batch = 0;
  Training whole(recipe, 11, small_text);
  updates(parts, 3);
  updates(whole, 3);
  const std::vector<real> a = parts.model.values().to_vector(), b = whole.model.values().to_vector();
  // Sums in another order; Adam divides by small numbers.
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << i;
}

TEST(Training, MicroBatchesHaveTheirShareOfThePenalties) {
  Recipe recipe = averaging_recipe();
  Training parts(recipe, 11, small_text);
  recipe.language_model().train.micro_batch = 0;
  Training whole(recipe, 11, small_text);
  const auto gradients = [](Training& training) {
    training.trainer.next_batch();
    update(training);
    return training.model.gradients().to_vector();
  };
  const auto a = gradients(parts), b = gradients(whole);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << i;
}

TEST(Training, RefusesMicroBatchesThatDoNotDivideTheBatch) {
  LanguageModelOptions small;
  small.hidden = {4};
  LanguageModel model(small, 11);
  LanguageModellingOptions options;
  for (const int64_t micro_batch : {3, -1, 40}) {
    options.micro_batch = micro_batch;
    EXPECT_EQ(
        error_of([&] { LanguageModelling(model, options, small_text); }),
        micro_batch < 0
            ? "micro_batch = -1: expected an integer, at least 0"
            : fmt::format("micro_batch = {} does not divide the batch of 20: set it to a divisor, or to 0",
                          micro_batch));
  }
}

}  // namespace
}  // namespace rondo
