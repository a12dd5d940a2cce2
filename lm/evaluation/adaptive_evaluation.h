// Evaluation of a model that adapts to the text it is scored on: by dynamic evaluation, a neural cache, or
// both. Each symbol is scored before the model learns from it. Deliberately without a search of settings:
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

/// What goes on while a text is read.
struct Adaptation {
  std::optional<DynamicOptions> dynamic{};
  const GradientStatistics* statistics = nullptr;  // for `dynamic`
  std::optional<CacheOptions> cache{};
};

/// The text as one stream from a zero state, scored by the present weights: in chunks of dynamic.length, each
/// of which is learned from once `use` has had it, with its state not computed again; or, without `dynamic`,
/// as evaluate_ids() reads it. The weights are put back at the end, also after an exception. Throws Diverged.
void read_one_stream(LanguageModel& model, std::span<const int32_t> ids,
                     const std::optional<DynamicOptions>& dynamic, const GradientStatistics* statistics,
                     const std::function<void(const ChunkResult&)>& use);

/// read_one_stream(); with both, the cache mixes into the probabilities of the present weights, which learn
/// from their own loss. InputErrors of evaluate_ids() and NeuralCache.
Evaluation evaluate_adaptively(
    LanguageModel& model, std::span<const int32_t> ids, const Adaptation& how,
    std::optional<int32_t> unknown_id = {}, const std::function<void(int64_t)>& progress = [](int64_t) {});

}  // namespace rondo
