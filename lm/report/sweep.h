// A sweep: the settings that it tries, and the report of its runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/recipe.h"
#include "lm/report/run_groups.h"
#include "lm/report/svg.h"

namespace rondo {

// --- Sweep grid ---
// The runs of a sweep, from its lists of settings: every combination of their values, each with as many
// seeds as asked for. Training them: lm/commands/sweep.cpp.

/// A setting with its values, or several that vary together.
struct SweptSettings {
  std::string where;  // "--set model.hidden=800,900"
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values;  // choices, each with a value for each key
};

/// From what `--set` got: "KEY=VALUE,VALUE,..."; for settings that vary together
/// "KEY:KEY=VALUE:VALUE,VALUE:VALUE,...". Commas and colons within [ ], within a value in quotes, and colons
/// where there is only one key, are a part of the value. InputError for anything else.
SweptSettings parse_swept(const std::string& text);

struct SweepRun {
  std::string name;               // of its folder: "hidden=800_seed=1"
  std::vector<Setting> settings;  // as for `lm train`, without the seed
  Recipe recipe;
  std::int64_t seed = 1;
};

/// In the order of the settings; the last one varies fastest, the seed faster. Seeds are numbered from the
/// recipe's train.seed, unless that is swept. InputError for a bad recipe, key or value, for values and keys
/// that are given twice, and if settings contradict each other, with the combination that does.
std::vector<SweepRun> runs_of_sweep(const std::string& recipe, const std::vector<SweptSettings>& swept,
                                    std::optional<std::int64_t> seeds);

/// The value of a key for a reader: strings without quotes, lists of one number as that number.
std::string shown_value(const Key& key);
/// The part of a key's name after the section, or all of it if another of `keys` has the same.
std::string shown_name(const std::string& key, const std::vector<std::string>& keys);

// --- Sweep report ---
// What a sweep has found: the runs in its folder, a row for each setting, with means over seeds; as a
// table, as JSON and as a diagram. Everything is read from the runs (lm/report/run_record.h), so that it
// can be shown at any time. Training them: lm/commands/sweep.cpp.

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
  ScoreStyle score;               // by which runs are compared
  std::vector<std::string> keys;  // the settings that differ between runs, in the recipe's order
  struct Row {
    std::vector<std::string> values;  // of the keys
    Runs runs;                        // finished ones, which differ only in their seed
  };
  std::vector<Row> rows;                // ordered by their values
  std::optional<std::size_t> best;      // of the rows, by the validation text
  std::optional<std::size_t> standard;  // the row with the values of the built-in recipe itself
  std::vector<std::string> unfinished;  // runs
};

/// Whether it is a folder that is not a run, but has folders that are.
bool holds_runs(const std::filesystem::path& folder);
/// Returns these runs, and in place of each folder of a sweep its runs. Of several paths, as "SWEEP/*" gives
/// them, those of diagrams, pages and tables that `lm` wrote beside runs are left out.
std::vector<std::string> runs_among(const std::vector<std::string>& paths);
/// Reads the runs at these paths. One that is not a run, or has a broken file, is left out, with a line on
/// stderr and an exit status that is not 0.
std::pair<Runs, int> read_runs(const std::vector<std::string>& paths);

/// Returns the settings of a recipe's section [data], and of its tasks.
std::string data_settings(Recipe recipe);
/// Throws an InputError, naming both texts, if two runs with the same settings of data have different texts;
/// `advice` ends it.
void check_same_texts(const Runs& runs, const std::string& advice);

/// Reads the runs of a sweep. Throws an InputError if they are of several recipes or texts, or if there are
/// none.
SweepReport report_of_sweep(const std::filesystem::path& folder);

/// Makes the diagrams of the validation text and of the test text, where there is something to draw. Throws
/// an InputError if `options` do not fit the sweep.
std::vector<Plot> plots_of(const SweepReport& report, const SweepPlotOptions& options);
/// Throws an InputError if the report of a sweep with these runs, of which only the settings are read, could
/// not be drawn.
void check_plot(const Runs& runs, const SweepPlotOptions& options);

/// Prints the report of a sweep on stdout and the unfinished runs on stderr; writes the diagram to `plot`,
/// if that is not empty. InputErrors of file_to_write(), before anything else is done.
struct SweepReportOptions {
  bool json = false, markdown = false;
  std::string plot, plot_option = "--plot";  // the file, and what has named it
  SweepPlotOptions drawn{};
};
void print_sweep(const std::filesystem::path& folder, const SweepReportOptions& options);

}  // namespace rondo
