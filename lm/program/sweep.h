// `lm sweep`: trains every combination of settings with several seeds. Each run is one that `lm train` makes
// with these settings, by a process of its own, in a folder that is named after them. Finished runs are not
// trained again, and stopped ones are resumed. Next: lm/program/sweep_grid.h, lm/program/sweep_report.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lm/program/compute.h"
#include "lm/program/sweep_grid.h"
#include "lm/program/sweep_report.h"

namespace rondo {

struct SweepOptions {
  std::string recipe;  // a name or a file
  std::string data;    // as in TrainOptions
  std::string out;     // the folder of the runs; empty: runs/RECIPE-sweep
  std::vector<SweptSettings> settings;
  std::optional<int64_t> seeds;  // none: one
  int jobs = 1;                  // runs at a time
  std::optional<int> threads;    // of all of them together; none: threads.h
  std::optional<Device> device{};
  std::optional<Precision> precision{};
  bool json = false;
  SweepPlotOptions drawn{};
  std::vector<std::string> words;  // of the command line
};

/// Prints a line for each run, then the report, and writes the diagram to OUT/sweep.svg. Returns 0, 1 if runs
/// have failed, or 128 + the signal that stopped it, once all running trainings have saved their state.
int sweep(const SweepOptions& options);

}  // namespace rondo
