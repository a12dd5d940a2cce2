// What `lm eval` prints of what it measured: text or JSON on stdout. The measuring: lm/evaluate.cpp.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lm/adaptive_evaluation.h"
#include "lm/evaluation.h"
#include "lm/recipe.h"
#include "lm/tuning.h"

namespace rondo {

/// What has been measured, and how.
struct Measurement {
  std::string run, text;
  std::string split;  // empty: a file of the user's
  Reading reading;
  Adaptation how;
  std::optional<Tuned> tuned;
  std::int64_t budget = 0;  // of tuning
  Evaluation result;
  double published = 0;  // the paper's figure of the same measurement; 0: none
  std::string published_unit;
};

/// The paper's figure on `split` with what `how` adds to the model, 0 where there is none.
double published_figure(const Recipe::Published& published, const std::string& split, const Adaptation& how);

/// The figures of a text, of whatever model.
nlohmann::ordered_json json_of(const Evaluation& it);
void print_figures(const std::string& text, const Evaluation& it);

void print_json(const Measurement& measurement);
void print_text(const Measurement& measurement);

/// A line of a search, and what it found.
void print_trial(const Trial& trial);
void print_tuned(const Tuned& tuned);

}  // namespace rondo
