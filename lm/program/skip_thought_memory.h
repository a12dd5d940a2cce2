// The memory that the tensors of the training of a skip-thought model will take: an estimate, as
// lm/program/memory_estimate.h has it for language models. Measured peaks are within a quarter of it.
#pragma once

#include <cstdint>

#include "lm/program/recipe.h"

namespace rondo {

/// The size of the largest batch, padding included: B triples, whose sentences have S, T and U steps.
struct TripleSize {
  std::int64_t triples = 0, middle_steps = 0, previous_steps = 0, next_steps = 0;

  std::int64_t symbols() const { return triples * (middle_steps + previous_steps + next_steps); }
};
/// Of an epoch's batches.
TripleSize largest_batch(const SentenceBatchOptions& options, const Triples& triples, std::uint64_t seed);
/// Where there is no text: sentences of 40 symbols, or of data.max_length.
TripleSize assumed_size(const SkipThoughtRecipe& recipe);

/// Bytes of tensors at the peak of a training without its evaluations, and of evaluations. `model` is the
/// recipe's, and needs no memory.
std::int64_t skip_thought_training_bytes(const Recipe& recipe, const SkipThought& model,
                                         const TripleSize& size);
std::int64_t skip_thought_evaluation_bytes(const SkipThought& model, const TripleSize& size);

/// InputError if a training would take more memory than `available` bytes, naming the settings to reduce.
void check_skip_thought_fits(const Recipe& recipe, const SkipThought& model, const TripleSize& size,
                             std::int64_t available);

}  // namespace rondo
