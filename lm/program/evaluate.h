// `lm eval`: how well a run predicts a text, as it is or adapting to it.
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
  std::string split = "valid";          // train, valid or test of the run's data; ignored when text is given
  std::string text;                     // a file
  std::string data;                     // where the run's text is; empty: where it was
  std::optional<std::int64_t> streams;  // none: final_reading() of lm/tasks/language_modelling.h
  bool dynamic = false, cache = false;  // adapt to the text: lm/evaluation/adaptive_evaluation.h
  std::vector<Setting> settings;        // of [dynamic] and [cache], on top of the run's
  bool tune = false;                    // search these settings on the validation text first
  std::optional<std::int64_t> budget;   // of symbols that the search may score
  bool json = false;
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};  // default: fp32
};

constexpr std::int64_t default_tuning_budget = 200'000;

/// Prints nats, bits, perplexity and the number of symbols on stdout, and with which settings. Returns 0.
int evaluate(const EvaluateOptions& options);

}  // namespace rondo
