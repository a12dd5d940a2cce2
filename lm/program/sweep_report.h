// What a sweep has found: the runs in its folder, a row for each setting, with means over seeds; as a table,
// as JSON and as a diagram. Everything is read from the runs (lm/program/measured_runs.h), so that it can be
// shown at any time. Training them: lm/commands/sweep.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/measured_runs.h"
#include "lm/program/svg_plot.h"
#include "lm/program/text_table.h"

namespace rondo {

/// How a sweep is drawn.
struct SweepPlotOptions {
  std::string over;            // a key, or "parameters"; empty: the only key of numbers, else parameters
  std::optional<double> band;  // half the width of the band; 0: none; default: default_band
};
/// What "Major-Minor LSTMs for Word-level Language Model" marks in its figure 3: perplexities that differ by
/// no more than this from the model's with its usual sizes.
constexpr double default_band = 0.25;

struct SweepReport {
  std::string recipe;
  DecisiveFigure figure;
  std::string scored = "symbols";  // what was counted
  std::vector<std::string> keys;   // the settings that differ between runs, in the recipe's order
  struct Row {
    std::vector<std::string> values;  // of the keys
    MeasuredRuns runs;                // finished ones, which differ only in their seed
    std::optional<Mean> valid, test;  // none: not measured
  };
  std::vector<Row> rows;                // ordered by their values
  std::optional<std::size_t> best;      // of the rows, by the validation text
  std::optional<std::size_t> standard;  // the row with the values of the built-in recipe itself
  std::vector<std::string> unfinished;  // runs
};

/// Whether it is a folder that is not a run, but has folders that are.
bool holds_runs(const std::filesystem::path& folder);

/// These runs, and in place of each folder of a sweep its runs. Of several paths, as "SWEEP/*" gives them,
/// those of diagrams, pages and tables that `lm` wrote beside runs are left out.
std::vector<std::string> runs_among(const std::vector<std::string>& paths);

/// The texts of runs that are compared: where the settings of data are the same, so must be the text.
class ComparedTexts {
 public:
  bool has(const Recipe& recipe) const { return texts_.contains(data_settings(recipe)); }
  /// InputError, naming both texts, if there is another one for these settings. `run` is who has this one;
  /// `advice` ends the error text.
  void add(const std::string& run, const Recipe& recipe, const Provenance& made_by,
           const std::string& advice);

 private:
  static std::string data_settings(Recipe recipe);

  struct Text {
    std::string run, data;
    std::vector<std::string> sha256;
  };
  std::map<std::string, Text> texts_;  // by the settings of data
};

/// InputError if runs are of several recipes or texts, or none is there. A broken run is left out, with a
/// line on stderr.
SweepReport report_of_sweep(const std::filesystem::path& folder);

TextTable table_of(const SweepReport& report);
nlohmann::ordered_json json_of(const SweepReport& report);
/// The diagrams of the validation text and of the test text, where there is something to draw. InputError if
/// `options` do not fit the sweep.
std::vector<Plot> plots_of(const SweepReport& report, const SweepPlotOptions& options);
/// The same as SVG, one below the other; empty if there is nothing to draw.
std::string svg_of(const SweepReport& report, const SweepPlotOptions& options);

/// InputError if the report of a sweep with these runs, of which only the settings are read, could not be
/// drawn.
void check_plot(const MeasuredRuns& runs, const SweepPlotOptions& options);

/// Prints the report of a sweep on stdout and the unfinished runs on stderr; writes the diagram to `plot`,
/// if that is not empty. InputErrors of file_to_write(), before anything else is done.
struct SweepReportOptions {
  bool json = false, markdown = false;
  std::string plot, plot_option = "--plot";  // the file, and what has named it
  SweepPlotOptions drawn{};
};
void print_sweep(const std::filesystem::path& folder, const SweepReportOptions& options);

}  // namespace rondo
