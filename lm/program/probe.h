// `lm probe`: what goes on inside the recurrent layers of a run's best model, as a table, as JSON and as
// pictures. What is looked at: lm/evaluation/probe.h. During a training: train.probe_every. Next:
// lm/program/probe_report.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/evaluation/probe.h"
#include "lm/program/compute.h"
#include "lm/program/recipe.h"

namespace rondo {

struct ProbeCommandOptions {
  std::vector<std::string> runs;
  std::string split = "valid";            // train, valid or test of the run's data
  std::string data;                       // where the runs' text is now; empty: not moved
  std::optional<std::int64_t> steps;      // of a language model; none: train.length
  std::optional<std::int64_t> sequences;  // none: ProbeOptions
  std::string svg;                        // a folder for pictures; empty: none
  bool json = false;
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};  // default: fp32
};

/// Of a language model of this recipe: sequences as long as those it is trained on.
ProbeOptions probe_options(const Recipe& recipe);

/// Prints a table of each run on stdout. Returns 0.
int probe_runs(const ProbeCommandOptions& options);

}  // namespace rondo
