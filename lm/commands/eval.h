// `lm eval`: how well the model of a run predicts a text, or does what its task is for; a language model also
// while it adapts to the text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/compute.h"
#include "lm/program/run.h"
#include "lm/program/settings.h"

namespace rondo {

struct EvaluateOptions : ComputeOptions {
  std::string run;
  std::string split = "valid";          // train, valid or test of the run's data; ignored if text is given
  std::string text;                     // a file; "-": standard input
  std::string task;                     // of a multi-task run; empty: its first one
  std::vector<std::string> sentences;   // folders with sets that vectors are measured on; empty: a split
  std::string vectors;                  // word vectors, for `sentences`; empty: none
  std::string data;                     // where the run's text is now; empty: not moved
  std::optional<std::int64_t> streams;  // none: final_reading() of lm/tasks/language_modelling.h
  bool dynamic = false, cache = false;  // adapt to the text: lm/evaluation/adaptive_evaluation.h
  std::vector<Setting> settings;        // of [dynamic], [cache] or [decoding], on top of the run's
  bool tune = false;                    // first search for settings on the validation text
  std::optional<std::int64_t> budget;   // of symbols that the search may score
  bool json = false;
};

constexpr std::int64_t default_tuning_budget = 200'000;

/// Prints scores and settings on stdout. Returns 0.
int evaluate(EvaluateOptions options);

// What the evaluations of all tasks share.

/// For a text with other SHA-256 digests than the one that a run was made with: InputError if --data names it
/// (`given`), as what has moved is the same text; else a warning.
void check_text_of_run(const std::string& given, const Provenance& made_by,
                       const std::vector<std::string>& sha256_of_text);
/// Throws InputError if a file that the run's settings name beside the data is missing; warns if it has
/// changed.
void warn_of_changed_files(const OpenTask& run);
/// Calls `keep`, which stores a measurement with its run; if that fails, only warns, so that the figures are
/// printed anyway.
void keep_if_possible(const std::function<void()>& keep);

}  // namespace rondo
