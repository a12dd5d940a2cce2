// The output of `lm eval`: text or JSON on stdout. The measurement: lm/program/evaluate.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lm/program/evaluate.h"
#include "lm/program/measurement.h"

namespace rondo {

/// The figures of any model on a text.
void print_figures(const std::string& text, const Evaluation& it);
void print_json(const Measurement& measurement);
/// Before the text is read: what an adaptive evaluation reads of the training text, and its settings.
void print_statistics(const DynamicOptions& dynamic, std::span<const std::int32_t> training_ids);
void print_adaptation(const Adaptation& how);

/// The figures.
void print_text(const Measurement& measurement);

/// A trial of a search, and the result of the search.
void print_trial(const Trial& trial);
void print_tuned(const Tuned& tuned, std::int64_t symbols_of_text);

}  // namespace rondo
