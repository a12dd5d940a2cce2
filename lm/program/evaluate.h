// `lm eval`: how well the model of a run predicts a text, with or without adapting to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/compute.h"
#include "lm/program/settings.h"

namespace rondo {

struct EvaluateOptions {
  std::string run;
  std::string split = "valid";          // train, valid or test of the run's data; ignored if text is given
  std::string text;                     // a file
  std::string task;                     // of a multi-task run; empty: its first one
  std::string data;                     // where the run's text is now; empty: not moved
  std::optional<std::int64_t> streams;  // none: final_reading() of lm/tasks/language_modelling.h
  bool dynamic = false, cache = false;  // adapt to the text: lm/evaluation/adaptive_evaluation.h
  std::vector<Setting> settings;        // of [dynamic] and [cache], on top of the run's
  bool tune = false;                    // first search for these settings on the validation text
  std::optional<std::int64_t> budget;   // of symbols that the search may score
  bool json = false;
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};  // default: fp32
};

constexpr std::int64_t default_tuning_budget = 200'000;

/// Prints nats, bits, perplexity, the number of symbols and the settings on stdout. Returns 0.
int evaluate(const EvaluateOptions& options);

}  // namespace rondo
