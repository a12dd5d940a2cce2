// What was measured of runs, one row a run, as `lm table` shows it: from log.jsonl and evaluations.jsonl of
// their folders. What it looks like on a page: lm/program/table.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/run_folder.h"

namespace rondo {

/// Of one split: what an evaluation wrote into the log, or what is kept in evaluations.jsonl.
struct Measured {
  double nats = 0, bits = 0, perplexity = 0;
  std::int64_t symbols = 0;
  std::string read, settings;  // how; of what adapts
};

/// What is measured of a run. `carried`: with the state carried on, where the recipe begins it anew.
struct MeasurementKind {
  std::string name, split;
  bool dynamic = false, cache = false, carried = false;

  bool is_plain() const { return !dynamic && !cache && !carried; }
};
inline const std::vector<MeasurementKind> kinds_of_measurement = {
    {"test", "test"},
    {"test carried on", "test", false, false, true},
    {"test dynamic", "test", true},
    {"test cache", "test", false, true},
    {"test both", "test", true, true},
    {"valid", "valid"},
    {"valid dynamic", "valid", true},
    {"valid cache", "valid", false, true},
    {"valid both", "valid", true, true},
};
constexpr std::size_t test_kind = 0, valid_kind = 5;

/// A run; or what is kept of one in docs/runs, without its vocabulary and model.
struct MeasuredRun {
  std::string run;
  RunConfig config;
  std::int64_t vocabulary_size = 0, types = 0, parameters = 0;
  bool finished = false;
  std::int64_t epochs = 0;                 // the last that was evaluated; 0: none
  std::optional<double> training_seconds;  // up to that evaluation; none in logs of older versions
  std::vector<std::optional<Measured>> measured{kinds_of_measurement.size()};  // of the best model

  const Recipe& recipe() const { return config.recipe; }
  std::optional<Measured>& test() { return measured[test_kind]; }
  std::optional<Measured>& valid() { return measured[valid_kind]; }
  bool is_finetuned() const { return !config.made_by.finetuned_from.empty(); }
  bool is_of_the_papers_text() const;
  /// The paper's figure of the same kind of model on the same text, read in the same way; 0: none.
  double published(const MeasurementKind& kind, const std::optional<Measured>& it) const;
};

/// Reads a run's folder. InputErrors of the folder and of its files.
MeasuredRun measured_run(const std::string& path);

/// Finished runs that differ in their seed alone, in the order of their first. A seed stands in a line once:
/// a second run of it, or a copy, is another line; so is what is not finished.
using MeasuredRuns = std::vector<MeasuredRun>;
std::vector<MeasuredRuns> lines_of(const MeasuredRuns& rows);

/// Over the runs of a line that have it.
struct Mean {
  std::size_t n = 0;
  double mean = 0, deviation = 0;  // the standard deviation, with n - 1; 0 of one
};
/// Of figures `member` of a kind; none where the runs' settings differ, and n = 0 where there are no figures.
std::optional<Mean> mean_of(const MeasuredRuns& line, std::size_t kind, double Measured::*member);

}  // namespace rondo
