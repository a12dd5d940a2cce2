// What the tensors of a reader's training take.
#include "lm/program/question_answering_memory.h"

#include <algorithm>
#include <span>

#include "lm/evaluation/evaluation.h"
#include "lm/program/memory_estimate.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

/// The stacks of document and question are alike.
CellSizes sizes_of_one_stack(const AttentiveReader& model) {
  const std::vector<Cell*> cells = model.cells();
  return CellSizes(std::span(cells).first(cells.size() / 2));
}

}  // namespace

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

/// numbers_of_weights() and statistics; for each of the N = (T + Q) B rows of both texts D E +
/// kept_of_stack(), as of a classifier; and for each row of the document the attention's keys, their tanh,
/// the states in the order of sentences, and two gradients; the keys once more if they are normalised.
std::int64_t question_answering_training_bytes(const Recipe& recipe, const AttentiveReader& model,
                                               const QuestionBatchSize& size) {
  const AttentiveReaderOptions& options = model.options();
  const CellSizes cells(model.cells()), of_one_stack = sizes_of_one_stack(model);
  const auto H = static_cast<double>(options.hidden), B = static_cast<double>(size.questions),
             T = static_cast<double>(size.document_steps);
  const double N = B * (T + static_cast<double>(size.question_steps));
  const double D = 1 + kept_of_dropout(options.dropout);
  const double weights = numbers_of_weights(static_cast<double>(model.parameter_count()), cells.step_weights,
                                            cells.dropped, recipe.trainer, options.regularization);
  return bytes_of(weights + static_cast<double>(statistics_of(model)) +
                  N * (D * static_cast<double>(options.embedding) +
                       kept_of_stack(options, options.layers, of_one_stack)) +
                  (options.batch_norm_attention ? 6 : 5) * B * T * H);
}

/// 2 P + R numbers of weights, and of rows_at_once rows, or of one longer document, E and
/// evaluated_of_stack(); and the attention's keys, their tanh, and the states in the order of sentences.
std::int64_t question_answering_evaluation_bytes(const AttentiveReader& model,
                                                 const QuestionBatchSize& size) {
  const AttentiveReaderOptions& options = model.options();
  const CellSizes cells(model.cells());
  const auto N = static_cast<double>(std::max(rows_at_once, size.document_steps));
  const double keys = options.batch_norm_attention ? 4 : 3;
  return bytes_of(2 * static_cast<double>(model.parameter_count()) + cells.step_weights +
                  static_cast<double>(statistics_of(model)) +
                  N * (static_cast<double>(options.embedding) +
                       evaluated_of_stack(options, options.layers, cells) +
                       keys * static_cast<double>(options.hidden)));
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
