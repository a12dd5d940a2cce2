// A search of the settings of dynamic evaluation and the neural cache on a text, within a budget of scored
// symbols. Deliberately without the evaluation that uses what it found: lm/program/evaluate.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lm/evaluation/adaptive_evaluation.h"

namespace rondo {

/// What was tried, and what it gave on how many symbols.
struct Trial {
  Adaptation how;
  double nats = 0;  // per symbol; infinite where updates ruined the weights
  int64_t symbols = 0;
};

/// The shares of the cache that are tried with each of its other settings, beside the one to begin with.
constexpr double tuned_lambdas[] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5};

struct Tuned {
  Adaptation best;
  std::vector<Trial> trials;
  int64_t symbols = 0;  // scored in all: trials of the cache share one reading
  int64_t prefix = 0;   // scored by each reading: the first symbols of the text
};

/// InputError for a budget below a symbol for each reading of the text that a search from `start` does.
void check_budget(const Adaptation& start, int64_t budget);

/// Searches what `start` has, around its settings. Dynamic evaluation: the learning rate times 0.6 to 2, then
/// the decay times 0.5 to 2.5, the rates and decays of Krause et al.'s released code relative to its default.
/// Then the cache, one reading for all, with the best dynamic evaluation: theta, lambda and the window. Every
/// reading is of the same first symbols, as many as the budget allows; what is equally good is decided for
/// the earlier trial. `report` gets each trial as it is known, of the cache the best lambda of each window
/// and theta; `progress` the symbols scored so far and those of all readings. InputErrors of
/// check_budget().
Tuned tune(
    LanguageModel& model, std::span<const int32_t> ids, const Adaptation& start, int64_t budget,
    const std::function<void(const Trial&)>& report,
    const std::function<void(int64_t, int64_t)>& progress = [](int64_t, int64_t) {});

}  // namespace rondo
