// `lm score`: the probability of each line of standard input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lm/program/compute.h"

namespace rondo {

struct ScoreOptions {
  std::string run;
  bool stateful = false;    // the state is carried from line to line
  bool per_symbol = false;  // a row for each symbol
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};  // default: fp32
};

/// Prints tab-separated rows on stdout. Returns 0.
int score(const ScoreOptions& options);

}  // namespace rondo
