// The memory that the tensors of a recogniser's training will take: an estimate, as
// lm/program/memory_estimate.h has it for language models. Measured peaks are within a quarter of it.
#pragma once

#include <cstdint>

#include "data/utterance_batches.h"
#include "lm/program/recipe.h"

namespace rondo {

/// Where there is no corpus: utterances of 200 steps and 50 characters.
UtteranceBatchSize assumed_size(const SpeechRecipe& recipe);

/// Bytes of tensors at the peak of a training without its evaluations, and of evaluations. `model` is the
/// recipe's, and needs no memory.
std::int64_t speech_training_bytes(const Recipe& recipe, const CtcModel& model,
                                   const UtteranceBatchSize& size);
std::int64_t speech_evaluation_bytes(const CtcModel& model, const UtteranceBatchSize& size);

/// InputError if a training would take more memory than `available` bytes, naming the settings to reduce.
void check_speech_fits(const Recipe& recipe, const CtcModel& model, const UtteranceBatchSize& size,
                       std::int64_t available);

}  // namespace rondo
