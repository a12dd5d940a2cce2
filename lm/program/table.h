// `lm table`: measured figures beside published ones. All of them come from the folders of the runs:
// config.toml, vocab.txt, log.jsonl, evaluations.jsonl, and the SHA-256 of model.safetensors. Nothing is
// measured here; `lm eval` does that (evaluate.h). Runs become rows in lm/program/table_rows.h, and JSON in
// lm/program/table_json.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lm/program/sweep_report.h"

namespace rondo {

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
/// alone (lm/program/sweep_report.h), and returns 0. A folder that is not a run, or has
/// a broken file, is left out: a line on stderr names the file and the line of the log, and the command
/// returns 2.
int table(const TableOptions& options);

/// Prints on stderr why a run's row has no published figures.
void say_what_is_left_out(const MeasuredRuns& runs);
/// The runs at these paths; one that is not a run, or has a broken file, is left out, with a line on stderr
/// and an exit status that is not 0.
std::pair<MeasuredRuns, int> readable_runs(const std::vector<std::string>& paths);

}  // namespace rondo
