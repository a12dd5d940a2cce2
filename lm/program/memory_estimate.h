// What a recipe's tensors take, before they exist, so that a run that cannot fit is refused at once.
// Deliberately an estimate: measured peaks of tensors are within a quarter of it; text and
// program come on top. What the machine has: tensor/available_memory.h.
#pragma once

#include <cstdint>
#include <functional>

#include "lm/program/recipe.h"
#include "lm/tasks/batches.h"
#include "nn/module.h"

namespace rondo {

/// What so many streams of a chunk of the text come to at most.
using ChunkSizeOfStreams = std::function<ChunkSize(std::int64_t streams)>;

/// Bytes of tensors at the peak of a training, or of its evaluations, which the training does not contain.
/// `model` is the recipe's, and need not have memory. Without `size_of` no line is longer than
/// train.length.
std::int64_t training_bytes(const Recipe& recipe, const LanguageModel& model,
                            const ChunkSizeOfStreams& size_of = {});
std::int64_t evaluation_bytes(const Recipe& recipe, const LanguageModel& model);

/// InputError if a training would take more memory than `available` bytes: it names a train.micro_batch that
/// would fit, or says what else is smaller.
void check_fits(const Recipe& recipe, const LanguageModel& model, std::int64_t available,
                const ChunkSizeOfStreams& size_of = {});

/// Bytes of tensors at the peak of the statistics of dynamic evaluation, which takes less itself.
std::int64_t dynamic_bytes(const Recipe& recipe, const LanguageModel& model);

/// InputError if dynamic evaluation would take more than `available` bytes; it names what is smaller.
void check_dynamic_fits(const Recipe& recipe, const LanguageModel& model, std::int64_t available);

}  // namespace rondo
