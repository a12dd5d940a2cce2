// The memory that the tensors of a classifier's training will take: an estimate, as
// lm/program/memory_estimate.h has it for language models. Measured peaks are within a quarter of it.
#pragma once

#include <cstdint>

#include "lm/program/recipe.h"

namespace rondo {

/// The size of the largest batch, padding included: B sentences of T steps.
struct SentenceBatchSize {
  std::int64_t sentences = 0, steps = 0;
};
/// Of an epoch's batches.
SentenceBatchSize largest_batch(const SentenceBatchOptions& options, const LabelledSentences& sentences,
                                std::uint64_t seed);
/// Where there is no text: sentences of 40 symbols.
SentenceBatchSize assumed_size(const ClassificationRecipe& recipe);

/// Bytes of tensors at the peak of a training without its evaluations, and of evaluations. `model` is the
/// recipe's, and needs no memory.
std::int64_t classification_training_bytes(const Recipe& recipe, const SentenceClassifier& model,
                                           const SentenceBatchSize& size);
std::int64_t classification_evaluation_bytes(const SentenceClassifier& model, const SentenceBatchSize& size);

/// InputError if a training would take more memory than `available` bytes, naming the settings to reduce.
void check_classification_fits(const Recipe& recipe, const SentenceClassifier& model,
                               const SentenceBatchSize& size, std::int64_t available);

}  // namespace rondo
