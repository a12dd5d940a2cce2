// `lm score`: the probability of each line of standard input.
#pragma once

#include <optional>
#include <string>

namespace rondo {

struct ScoreOptions {
  std::string run;
  bool stateful = false;    // the state goes on from line to line
  bool per_symbol = false;  // a row for each symbol
  std::optional<int> threads;
  std::string device = "cpu";
  std::optional<std::string> precision{};  // default: fp32
};

/// Prints tab-separated rows on stdout. Returns 0.
int score(const ScoreOptions& options);

}  // namespace rondo
