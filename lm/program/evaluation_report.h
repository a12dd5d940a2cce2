// What `lm eval` prints of what it measured: text or JSON on stdout. The measuring: lm/program/evaluate.cpp.
#pragma once

#include "lm/program/measurement.h"

namespace rondo {

/// The figures of a text, of whatever model.
void print_figures(const std::string& text, const Evaluation& it);
void print_json(const Measurement& measurement);
void print_text(const Measurement& measurement);

/// A line of a search, and what it found.
void print_trial(const Trial& trial);
void print_tuned(const Tuned& tuned);

}  // namespace rondo
