// The output of `lm eval`: text or JSON on stdout. The measurement: lm/program/evaluate.cpp.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "lm/evaluation/adaptive_evaluation.h"
#include "lm/evaluation/scores.h"
#include "lm/evaluation/tuning.h"

namespace rondo {

/// Prints scores: what was scored, the metrics, the details, a line each.
void print_scores(const std::string& text, const Scores& scores);
/// Before the text is read: what an adaptive evaluation reads of the training text, and its settings.
void print_statistics(const DynamicOptions& dynamic, std::span<const std::int32_t> training_ids);
void print_adaptation(const Adaptation& how);

/// A trial of a search, and the result of the search.
void print_trial(const Trial& trial);
void print_tuned(const Tuned& tuned, std::int64_t symbols_of_text);
nlohmann::ordered_json json_of(const Tuned& tuned, std::int64_t budget);

}  // namespace rondo
