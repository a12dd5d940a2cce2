// What the tensors of a reader's training take.
#include "lm/program/question_answering_memory.h"

#include <algorithm>

#include "lm/evaluation/evaluation.h"
#include "lm/program/memory_estimate.h"
#include "tensor/available_memory.h"

namespace rondo {

QuestionBatchSize largest_batch(const QuestionBatchOptions& options, const Questions& questions,
                                std::uint64_t seed) {
  QuestionBatches batches(options, questions, seed);
  QuestionBatchSize largest;
  for (QuestionBatch batch; batches.next(batch);) {
    const QuestionBatchSize size{batch.documents.sentences, batch.documents.steps, batch.questions.steps};
    if (size.questions * size.document_steps > largest.questions * largest.document_steps) largest = size;
  }
  return largest;
}

QuestionBatchSize assumed_size(const QuestionAnsweringRecipe& recipe) {
  return {recipe.task.batches.batch, recipe.data.questions.document_words, 40};
}

/// P (2 + S + A) + 2 R + 5 R_d numbers of weights, as in memory_estimate.cpp; for each of the N = (T + Q) B
/// rows of both texts what a classifier's rows have (classification_memory.cpp); and for each row of the
/// document the attention's keys, their tanh, the states in the order of sentences, and two gradients.
std::int64_t question_answering_training_bytes(const Recipe& recipe, const AttentiveReader& model,
                                               const QuestionBatchSize& size) {
  const AttentiveReaderOptions& options = model.options();
  const CellSizes cells(model.cells());  // of both stacks
  const auto P = static_cast<double>(model.parameter_count()), E = static_cast<double>(options.embedding),
             H = static_cast<double>(options.hidden), L = static_cast<double>(options.layers),
             B = static_cast<double>(size.questions), T = static_cast<double>(size.document_steps);
  const double N = B * (T + static_cast<double>(size.question_steps));
  const double dropped = options.dropout == 0 ? 0 : options.variational ? 1 : 2;
  const double C = kept_of_state(options.regularization) + (options.bidirectional ? 1 : 0);
  const double rows =
      N * ((1 + dropped) * E + cells.kept / 2 + C * H * L + dropped * H * (L - 1) + H) + 5 * B * T * H;
  const double weights = P * numbers_per_parameter(recipe.trainer) + 2 * cells.step_weights +
                         (options.regularization.weight_drop > 0 ? 5 * cells.dropped : 0);
  return bytes_of(weights + rows);
}

std::int64_t question_answering_evaluation_bytes(const AttentiveReader& model,
                                                 const QuestionBatchSize& size) {
  const AttentiveReaderOptions& options = model.options();
  const CellSizes cells(model.cells());
  const auto N = static_cast<double>(std::max(rows_at_once, size.document_steps));
  const double below = options.layers == 1 ? 0 : options.bidirectional ? 4 : 2;
  return bytes_of(2 * static_cast<double>(model.parameter_count()) + cells.step_weights +
                  N * (static_cast<double>(options.embedding) + cells.projected / 2 +
                       (5 + below) * static_cast<double>(options.hidden)));
}

void check_question_answering_fits(const Recipe& recipe, const AttentiveReader& model,
                                   const QuestionBatchSize& size, std::int64_t available) {
  const std::int64_t wanted = question_answering_training_bytes(recipe, model, size);
  check_input(wanted <= available,
              "{}: training would take about {}, and {} are available: make train.batch, model.hidden or "
              "data.document_words smaller; the largest batch has {} documents of {} words",
              recipe.name, bytes_text(wanted), bytes_text(available), size.questions, size.document_steps);
}

}  // namespace rondo
