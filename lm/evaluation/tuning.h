// A search for the settings of dynamic evaluation and the neural cache on a text, within a budget of scored
// symbols. The evaluation with the settings found is in lm/program/evaluate.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lm/evaluation/adaptive_evaluation.h"

namespace rondo {

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

/// InputError for a budget of less than one symbol for each reading of the text in a search from `start`.
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
