// `lm score`: the probability of each line of files or of standard input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/compute.h"

namespace rondo {

struct ScoreOptions {
  std::string run;
  std::vector<std::string> with;      // further runs, whose probabilities are interpolated with the first's
  std::vector<double> weights;        // of all runs; empty: equal ones
  std::vector<std::string> files;     // empty: standard input
  bool stateful = false;              // the state is carried from line to line
  bool per_symbol = false;            // a row for each symbol
  bool ids = false;                   // the number of its line begins a row
  bool per_length = false;            // the log probability per symbol ends a row
  bool totals = false;                // a row for each file
  bool nbest = false;                 // the lines are those of an n-best list, which get a feature
  std::string feature = "rondo";      // its name
  std::optional<std::int64_t> batch;  // lines that are read side by side
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};  // default: fp32
};

/// The default of ScoreOptions::batch: 1 if the state is carried on, and for standard input, where a row then
/// appears as soon as its line has been read.
constexpr std::int64_t default_score_batch = 1024;

/// Prints tab-separated rows on stdout. Returns 0.
int score(const ScoreOptions& options);

}  // namespace rondo
