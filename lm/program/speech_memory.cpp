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

/// P (2 + S + A) + 2 R + 5 R_d numbers of weights, as in memory_estimate.cpp, and for each of the N = T B
/// rows of a batch F + G + C H L + O: frames, gates and states of all layers; where there is dropout, its
/// results and, without `variational`, as many masks; of layers in both directions also their states joined;
/// what the loss keeps; and the gradient of the last layer.
std::int64_t speech_training_bytes(const Recipe& recipe, const CtcModel& model,
                                   const UtteranceBatchSize& size) {
  const CtcModelOptions& options = model.options();
  const CellSizes cells(model.cells());
  const auto P = static_cast<double>(model.parameter_count()), F = static_cast<double>(model.width()),
             H = static_cast<double>(options.hidden), L = static_cast<double>(options.layers);
  const double N = static_cast<double>(size.utterances) * static_cast<double>(size.steps);
  const double dropped = options.dropout == 0 ? 0 : options.variational ? 1 : 2;
  const double C = kept_of_state(options.regularization) + (options.bidirectional ? 1 : 0);
  const double rows = N * (F + cells.kept + C * H * L + dropped * H * L + H + kept_of_loss(model, size));
  const double weights = P * numbers_per_parameter(recipe.trainer) + 2 * cells.step_weights +
                         (options.regularization.weight_drop > 0 ? 5 * cells.dropped : 0);
  return bytes_of(weights + rows);
}

/// 2 P + R numbers of weights, and of rows_at_once rows, or of one longer utterance, what a layer reads,
/// computes and leaves; above the first layer also what the one below has left, of each direction; and what
/// the loss takes.
std::int64_t speech_evaluation_bytes(const CtcModel& model, const UtteranceBatchSize& size) {
  const CtcModelOptions& options = model.options();
  const CellSizes cells(model.cells());
  const auto N = static_cast<double>(std::max(rows_at_once, size.steps));
  const double below = options.layers == 1 ? 0 : options.bidirectional ? 4 : 2;
  return bytes_of(2 * static_cast<double>(model.parameter_count()) + cells.step_weights +
                  N * (static_cast<double>(model.width()) + cells.projected +
                       (2 + below) * static_cast<double>(options.hidden) + kept_of_loss(model, size)));
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
