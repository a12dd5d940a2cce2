// What the tensors of a recogniser's training take.
#include "lm/program/speech_memory.h"

#include <algorithm>

#include "lm/evaluation/evaluation.h"
#include "lm/program/memory_estimate.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

/// What the CTC loss keeps of a step: emissions, states and what it reads of scores, and their gradients.
double kept_of_loss(const CtcModel& model, const UtteranceBatchSize& size) {
  return 3 * static_cast<double>(size.labels + 16) + 2 * static_cast<double>(model.symbols());
}

}  // namespace

UtteranceBatchSize assumed_size(const SpeechRecipe& recipe) {
  constexpr std::int64_t steps = 200, labels = 50;
  const SentenceBatchOptions& batches = recipe.task.batches;
  if (batches.by == BatchBy::sentences) return {batches.batch, steps, labels};
  return {std::max<std::int64_t>(1, batches.batch / steps), steps, labels};
}

/// numbers_of_weights(), and for each of the N = T B rows of a batch the frames, kept_of_stack(), what
/// dropout keeps of the last layer, and what the loss keeps.
std::int64_t speech_training_bytes(const Recipe& recipe, const CtcModel& model,
                                   const UtteranceBatchSize& size) {
  const CtcModelOptions& options = model.options();
  const CellSizes cells(model.cells());
  const double N = static_cast<double>(size.utterances) * static_cast<double>(size.steps);
  const double dropout = kept_of_dropout(options.dropout) * static_cast<double>(options.hidden);
  const double weights = numbers_of_weights(static_cast<double>(model.parameter_count()), cells.step_weights,
                                            cells.dropped, recipe.trainer, options.regularization);
  return bytes_of(weights + N * (static_cast<double>(model.width()) + dropout +
                                 kept_of_stack(options, options.layers, cells) + kept_of_loss(model, size)));
}

/// 2 P + R numbers of weights, and of rows_at_once rows, or of one longer utterance, the frames,
/// evaluated_of_stack(), and what the loss takes.
std::int64_t speech_evaluation_bytes(const CtcModel& model, const UtteranceBatchSize& size) {
  const CtcModelOptions& options = model.options();
  const CellSizes cells(model.cells());
  const auto N = static_cast<double>(std::max(rows_at_once, size.steps));
  return bytes_of(2 * static_cast<double>(model.parameter_count()) + cells.step_weights +
                  N * (static_cast<double>(model.width()) +
                       evaluated_of_stack(options, options.layers, cells) + kept_of_loss(model, size)));
}

void check_speech_fits(const Recipe& recipe, const CtcModel& model, const UtteranceBatchSize& size,
                       std::int64_t available) {
  const std::int64_t wanted = speech_training_bytes(recipe, model, size);
  check_input(wanted <= available,
              "{}: training would take about {}, and {} are available: make train.batch, model.hidden or the "
              "longest utterances smaller, or data.stack larger; the largest batch has {} utterances of {} "
              "steps",
              recipe.name, bytes_text(wanted), bytes_text(available), size.utterances, size.steps);
}

}  // namespace rondo
