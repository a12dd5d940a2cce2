// Evaluation of a model that adapts to the text it is scored on: by dynamic evaluation, a neural cache, or
// both. Each symbol is scored before the model learns from it. The search for settings is in
// lm/evaluation/tuning.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "lm/evaluation/dynamic_evaluation.h"
#include "lm/evaluation/evaluation.h"
#include "lm/evaluation/neural_cache.h"
#include "tensor/diverged.h"

namespace rondo {

/// How the model adapts while a text is read.
struct Adaptation {
  std::optional<DynamicOptions> dynamic{};
  const GradientStatistics* statistics = nullptr;  // for `dynamic`
  std::optional<CacheOptions> cache{};
};

/// Reads the text as one stream from the initial state, scored with the current weights. With `dynamic`, it
/// is read in chunks of dynamic.length; after `use` the weights are updated from the chunk, whose state is
/// not recomputed. Without `dynamic`, it is read as by evaluate_ids(). The weights are restored at the end,
/// also after an exception. Throws Diverged.
void read_one_stream(LanguageModel& model, std::span<const int32_t> ids,
                     const std::optional<DynamicOptions>& dynamic, const GradientStatistics* statistics,
                     const std::function<void(const ChunkResult&)>& use);

/// Evaluates by read_one_stream(). With both methods, the cache is mixed into the probabilities of the
/// current weights, which learn from their own loss. InputErrors of evaluate_ids() and NeuralCache.
Evaluation evaluate_adaptively(
    LanguageModel& model, std::span<const int32_t> ids, const Adaptation& how,
    std::optional<int32_t> unknown_id = {}, const std::function<void(int64_t)>& progress = [](int64_t) {});

}  // namespace rondo
