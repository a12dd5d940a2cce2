// What the tensors of a classifier's training take.
#include "lm/program/classification_memory.h"

#include <algorithm>

#include "lm/evaluation/evaluation.h"
#include "lm/program/memory_estimate.h"
#include "tensor/available_memory.h"

namespace rondo {

SentenceBatchSize largest_batch(const SentenceBatchOptions& options, const LabelledSentences& sentences,
                                std::uint64_t seed) {
  LabelledBatches batches(options, sentences, seed);
  SentenceBatchSize largest;
  for (LabelledBatch batch; batches.next(batch);) {
    const SentenceBatchSize size{batch.sentences.sentences, batch.sentences.steps};
    if (size.sentences * size.steps > largest.sentences * largest.steps) largest = size;
  }
  return largest;
}

SentenceBatchSize assumed_size(const ClassificationRecipe& recipe) {
  constexpr std::int64_t steps = 40;
  const SentenceBatchOptions& batches = recipe.task.batches;
  if (batches.by == BatchBy::sentences) return {batches.batch, steps};
  return {std::max<std::int64_t>(1, batches.batch / steps), steps};
}

/// numbers_of_weights(), and for each of the N = T B rows of a batch D E: embeddings and, where there is
/// dropout, what it keeps of them; and kept_of_stack().
std::int64_t classification_training_bytes(const Recipe& recipe, const SentenceClassifier& model,
                                           const SentenceBatchSize& size) {
  const SentenceClassifierOptions& options = model.options();
  const CellSizes cells(model.cells());
  const double N = static_cast<double>(size.sentences) * static_cast<double>(size.steps);
  const double D = 1 + kept_of_dropout(options.dropout);
  const double weights = numbers_of_weights(static_cast<double>(model.parameter_count()), cells.step_weights,
                                            cells.dropped, recipe.trainer, options.regularization);
  return bytes_of(weights + N * (D * static_cast<double>(options.embedding) +
                                 kept_of_stack(options, options.layers, cells)));
}

/// 2 P + R numbers of weights, and of rows_at_once rows, or of one longer sentence, E and
/// evaluated_of_stack().
std::int64_t classification_evaluation_bytes(const SentenceClassifier& model, const SentenceBatchSize& size) {
  const SentenceClassifierOptions& options = model.options();
  const CellSizes cells(model.cells());
  const auto N = static_cast<double>(std::max(rows_at_once, size.steps));
  return bytes_of(
      2 * static_cast<double>(model.parameter_count()) + cells.step_weights +
      N * (static_cast<double>(options.embedding) + evaluated_of_stack(options, options.layers, cells)));
}

void check_classification_fits(const Recipe& recipe, const SentenceClassifier& model,
                               const SentenceBatchSize& size, std::int64_t available) {
  const std::int64_t wanted = classification_training_bytes(recipe, model, size);
  check_input(wanted <= available,
              "{}: training would take about {}, and {} are available: make train.batch, model.hidden or the "
              "longest sentences smaller; the largest batch has {} sentences of {} symbols",
              recipe.name, bytes_text(wanted), bytes_text(available), size.sentences, size.steps);
}

}  // namespace rondo
