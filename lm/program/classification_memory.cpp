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

/// P (2 + S + A) + 2 R + 5 R_d numbers of weights, as in memory_estimate.cpp, and for each of the N = T B
/// rows of a batch D E + G + C H L: embeddings, gates and states of all layers; where there is dropout, its
/// results and, without `variational`, as many masks; of layers in both directions also their states joined;
/// and the gradient of the last layer.
std::int64_t classification_training_bytes(const Recipe& recipe, const SentenceClassifier& model,
                                           const SentenceBatchSize& size) {
  const SentenceClassifierOptions& options = model.options();
  const CellSizes cells(model.cells());
  const auto P = static_cast<double>(model.parameter_count()), E = static_cast<double>(options.embedding),
             H = static_cast<double>(options.hidden), L = static_cast<double>(options.layers);
  const double N = static_cast<double>(size.sentences) * static_cast<double>(size.steps);
  const double dropped = options.dropout == 0 ? 0 : options.variational ? 1 : 2;
  const double C = kept_of_state(options.regularization) + (options.bidirectional ? 1 : 0);
  const double rows = N * ((1 + dropped) * E + cells.kept + C * H * L + dropped * H * (L - 1) + H);
  const double weights = P * numbers_per_parameter(recipe.trainer) + 2 * cells.step_weights +
                         (options.regularization.weight_drop > 0 ? 5 * cells.dropped : 0);
  return bytes_of(weights + rows);
}

/// 2 P + R numbers of weights, and of rows_at_once rows, or of one longer sentence, what a layer reads,
/// computes and leaves; above the first layer also what the one below has left, of each direction.
std::int64_t classification_evaluation_bytes(const SentenceClassifier& model, const SentenceBatchSize& size) {
  const SentenceClassifierOptions& options = model.options();
  const CellSizes cells(model.cells());
  const auto N = static_cast<double>(std::max(rows_at_once, size.steps));
  const double below = options.layers == 1 ? 0 : options.bidirectional ? 4 : 2;
  return bytes_of(2 * static_cast<double>(model.parameter_count()) + cells.step_weights +
                  N * (static_cast<double>(options.embedding) + cells.projected +
                       (2 + below) * static_cast<double>(options.hidden)));
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
