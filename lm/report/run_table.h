// The table of `lm table`: a row for each group of runs, with what was measured of them, beside published
// results; and the same runs and groups as JSON.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lm/report/run_groups.h"
#include "lm/report/sweep.h"

namespace rondo {

// --- Run table ---

/// A table in the making, with a row for each group of runs.
struct GroupTable {
  const std::vector<Runs>& groups;
  TextTable table{};

  template <class CellOf>
  TextColumn& add_of_groups(const std::string& name, ColumnShown shown, CellOf cell_of) {
    TextColumn& column = table.emplace_back(TextColumn{.name = name, .shown = shown});
    for (const Runs& group : groups) column.cells.push_back(cell_of(group));
    return column;
  }
  /// Adds a column that has the cells of a group's runs, each text once, with the mean of their numbers, and
  /// their deviation if the number `varies` because it was measured.
  template <class CellOf>
  TextColumn& add(const std::string& name, ColumnShown shown, CellOf cell_of, bool varies = false) {
    return add_of_groups(name, shown, [&](const Runs& group) {
      std::vector<std::string> texts;
      std::vector<double> numbers;
      for (const auto& run : group) {
        const TableCell cell = cell_of(*run);
        if (std::find(texts.begin(), texts.end(), cell.text) == texts.end()) texts.push_back(cell.text);
        if (cell.number && std::isfinite(cell.number->value)) numbers.push_back(cell.number->value);
      }
      TableCell joined(fmt::format("{}", fmt::join(texts, "; ")));
      if (numbers.empty()) return joined;
      joined.number = mean_of(numbers, varies ? group.size() : numbers.size());
      if (!varies) joined.number->deviation = 0;
      return joined;
    });
  }
  template <class CellOf>
  void add_texts(const std::string& name, ColumnShown shown, CellOf cell_of) {
    add(name, shown, cell_of).is_text = true;
  }
  /// Adds the number of symbols that were scored.
  void add_symbols(const std::string& name, ColumnShown shown, std::size_t kind);
  /// Adds the values of a key.
  void add_setting(const std::string& name, const std::string& key, ColumnShown shown);
  /// Removes the last columns if the first of them has only dashes.
  void remove_if_empty(std::size_t columns = 1);
};

/// How runs are put into rows.
struct Rows {
  std::vector<Runs> groups;
  std::vector<std::string> keys;  // settings that are columns
};

/// Finished runs that differ only in their seed share a row; with `group_by`, those that have the same values
/// of these settings. InputError if no run has such a key.
Rows rows_of(const Runs& runs, const std::vector<std::string>& group_by);

/// Makes a table of the rows.
TextTable table_of(const Runs& runs, const std::vector<std::string>& group_by = {});

/// Returns {"runs": each with all that is known of it, "groups": the rows, with the values of their settings,
/// and means}.
nlohmann::ordered_json json_of(const Runs& runs, const std::vector<std::string>& group_by);

/// A value as shown or as TOML, in JSON: a number, true or false, a list or a text; null for a dash.
nlohmann::ordered_json json_of_value(const std::string& value);
/// {"mean", "deviation", "n"}; the deviation of one run is null.
nlohmann::ordered_json json_of(const Mean& mean);

// --- The command ---
// `lm table`: what was measured of runs, beside published results. All of it comes from the folders of the
// runs (lm/report/run_record.h); nothing is measured here, `lm eval` does
// that. The table of the folder of a sweep: lm/report/sweep.h.

struct TableOptions {
  std::vector<std::string> runs;
  std::vector<std::string> group_by;                 // keys; empty: what differs only in the seed
  std::string sort;                                  // a column; empty: the order of the runs
  bool json = false, markdown = false, csv = false;  // at most one; none: a text table
  bool full = false;                                 // of a text table: all columns
  std::string plot;                                  // of a sweep: a file to draw it in; empty: none
  SweepPlotOptions drawn{};
};

/// Prints a row for each run on stdout, in the order given, or the report of a sweep if `runs` is its folder
/// alone, and returns 0. A folder that is not a run, or has a broken file, is left out: a line on stderr
/// names the file and the line of the log, and the command returns 2.
int table(const TableOptions& options);

}  // namespace rondo
