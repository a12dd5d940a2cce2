// The memory that the tensors of a reader's training will take: an estimate, as lm/program/memory_estimate.h
// has it for language models. Measured peaks are within a quarter of it.
#pragma once

#include <cstdint>

#include "lm/program/recipe.h"

namespace rondo {

/// The size of the largest batch, padding included: B questions, documents of T steps, questions of Q steps.
struct QuestionBatchSize {
  std::int64_t questions = 0, document_steps = 0, question_steps = 0;
};
/// Of an epoch's batches.
QuestionBatchSize largest_batch(const QuestionBatchOptions& options, const Questions& questions,
                                std::uint64_t seed);
/// Where there is no text: documents of data.document_words and questions of 40 words.
QuestionBatchSize assumed_size(const QuestionAnsweringRecipe& recipe);

/// Bytes of tensors at the peak of a training without its evaluations, and of evaluations. `model` is the
/// recipe's, and needs no memory.
std::int64_t question_answering_training_bytes(const Recipe& recipe, const AttentiveReader& model,
                                               const QuestionBatchSize& size);
std::int64_t question_answering_evaluation_bytes(const AttentiveReader& model, const QuestionBatchSize& size);

/// InputError if a training would take more memory than `available` bytes, naming the settings to reduce.
void check_question_answering_fits(const Recipe& recipe, const AttentiveReader& model,
                                   const QuestionBatchSize& size, std::int64_t available);

}  // namespace rondo
