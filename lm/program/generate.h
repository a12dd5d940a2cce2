// `lm generate`: text sampled from a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/compute.h"

namespace rondo {

struct GenerateOptions {
  std::string run;
  std::string prompt;
  std::string prompt_file;  // in place of prompt; "-": standard input; empty: none
  std::int64_t samples = 1;
  std::vector<std::string> stops;  // strings that end a text
  bool interactive = false;
  std::int64_t symbols = 300;
  double temperature = 1;  // 0: always the most probable symbol
  std::int64_t top_k = 0;  // 0: all
  double top_p = 1, min_p = 0, repetition_penalty = 1;
  std::optional<std::uint64_t> seed;  // none: one is drawn and printed on stderr
  bool allow_unknown = false;
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};  // default: fp32
};

/// Writes the sampled text to stdout while it samples, and nothing else but a line "--- I" before each of
/// several samples. Returns 0.
int generate(const GenerateOptions& options);

}  // namespace rondo
