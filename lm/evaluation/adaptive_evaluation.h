// Evaluation of a model that adapts to the text it is scored on: by dynamic evaluation, a neural cache, or
// both, and the search for its settings. Each symbol is scored before the model learns from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lm/evaluation/dynamic_evaluation.h"
#include "lm/evaluation/evaluation.h"
#include "lm/evaluation/neural_cache.h"
#include "tensor/error.h"

namespace rondo {

// --- Adaptive evaluation ---

/// How the model adapts while a text is read.
struct Adaptation {
  std::optional<DynamicOptions> dynamic{};
  const GradientStatistics* statistics = nullptr;  // for `dynamic`
  std::optional<CacheOptions> cache{};
};
/// Its settings by their keys, and those of them that tune() searches.
std::vector<Detail> settings_of(const Adaptation& how);
std::vector<Detail> searched_settings_of(const Adaptation& how);

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
    std::optional<int32_t> unknown_id = {}, const ReportDone& progress = [](int64_t) {});

// --- Tuning ---
// A search for the settings of dynamic evaluation and the neural cache on a text, within a budget of scored
// symbols. The evaluation with the settings found is in lm/commands/eval.cpp.

/// The settings of a trial, and their result.
struct Trial {
  Adaptation how;
  double nats = 0;  // per symbol; infinite if the updates diverged
  int64_t symbols = 0;
};

/// The values of lambda that are tried with each window and theta, in addition to the initial one.
constexpr double tuned_lambdas[] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5};

struct Tuned {
  Adaptation best;
  std::vector<Trial> trials;
  int64_t symbols = 0;  // scored in total: trials of the cache share one reading
  int64_t prefix = 0;   // scored by each reading: the first symbols of the text
};

/// Throws InputError for a budget of less than one symbol for each reading of the text in a search from
/// `start`.
void check_budget(const Adaptation& start, int64_t budget);

/// Searches around the settings of `start`, for the methods that it has. Dynamic evaluation: the learning
/// rate times 0.6 to 2, then the decay times 0.5 to 2.5, which are the values of Krause et al.'s released
/// code relative to its default. Then the cache, with the best dynamic evaluation and one reading for all
/// trials: theta, lambda and the window. Every reading is of the same first symbols, as many as the budget
/// allows; of equally good trials the first is chosen. `report` gets each trial when it is done, for the
/// cache the best lambda of each window and theta; `progress` gets the symbols scored so far and those of all
/// readings. InputErrors of check_budget().
Tuned tune(
    LanguageModel& model, std::span<const int32_t> ids, const Adaptation& start, int64_t budget,
    const std::function<void(const Trial&)>& report,
    const std::function<void(int64_t, int64_t)>& progress = [](int64_t, int64_t) {});

}  // namespace rondo
