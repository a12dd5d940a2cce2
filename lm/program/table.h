// `lm table`: what was measured of runs, beside published results. All of it comes from the folders of the
// runs (lm/program/run_record.h); nothing is measured here, `lm eval` does that (evaluate.h). Its rows:
// lm/program/run_table.h; of the folder of a sweep: lm/program/sweep_report.h.
#pragma once

#include <string>
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
/// alone, and returns 0. A folder that is not a run, or has a broken file, is left out: a line on stderr
/// names the file and the line of the log, and the command returns 2.
int table(const TableOptions& options);

}  // namespace rondo
