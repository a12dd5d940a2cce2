// The memory that the tensors of a translation's training will take: an estimate, as
// lm/program/memory_estimate.h has it for language models. Measured peaks are within a quarter of it.
#pragma once

#include <cstdint>

#include "lm/program/recipe.h"

namespace rondo {

/// The size of the largest batches, padding included: B sentences of S and T steps.
struct PairSize {
  std::int64_t sentences = 0, source_steps = 0, target_steps = 0;
};
/// Of an epoch's batches.
PairSize largest_batch(const PairBatchOptions& options, const Pairs& pairs, std::uint64_t seed);
/// Where there is no text: sentences of data.max_length symbols or, where that is 0, of 40.
PairSize assumed_size(const TranslationRecipe& recipe);

/// Bytes of tensors at the peak of a training without its evaluations, and of evaluations. `model` is the
/// recipe's, and needs no memory; `parameters` is the number of what is trained, with other models that share
/// parts of it.
std::int64_t translation_training_bytes(const Recipe& recipe, const EncoderDecoder& model,
                                        const PairSize& size, std::int64_t parameters);
std::int64_t translation_evaluation_bytes(const EncoderDecoder& model, const PairSize& size,
                                          std::int64_t parameters);

/// InputError if a training would take more memory than `available` bytes, naming the settings to reduce.
void check_translation_fits(const Recipe& recipe, const EncoderDecoder& model, const PairSize& size,
                            std::int64_t parameters, std::int64_t available);

}  // namespace rondo
