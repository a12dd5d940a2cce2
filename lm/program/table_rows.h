// How `lm table` puts runs into rows and columns. The columns of figures: lm/program/table_figures.h; text,
// Markdown and CSV of a table: lm/program/text_table.h.
#pragma once

#include <string>
#include <vector>

#include "lm/program/measured_runs.h"
#include "lm/program/text_table.h"

namespace rondo {

/// How runs are put into rows.
struct Rows {
  std::vector<MeasuredRuns> lines;
  std::vector<std::string> keys;  // settings that are columns
};

/// Finished runs that differ only in their seed share a row; with `group_by`, those that have the same values
/// of these settings. InputError if no run has such a key.
Rows rows_of(const MeasuredRuns& runs, const std::vector<std::string>& group_by);

/// The rows as a table.
TextTable table_of(const MeasuredRuns& runs, const std::vector<std::string>& group_by = {});

}  // namespace rondo
