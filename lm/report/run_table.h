// The table of `lm table`: a row for each group of runs, with what was measured of them, beside published
// results; and the same runs and groups as JSON. All of it comes from the folders of the runs
// (lm/report/run_record.h); nothing is measured here, `lm eval` does that.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lm/report/run_groups.h"

namespace rondo {

/// Makes a table. Finished runs that differ only in their seed share a row; with `group_by`, those that have
/// the same values of these settings. InputError if no run has such a key.
TextTable table_of(const Runs& runs, const std::vector<std::string>& group_by = {});

/// Returns {"runs": each with all that is known of it, "groups": the rows, with the values of their settings,
/// and means}.
nlohmann::ordered_json json_of(const Runs& runs, const std::vector<std::string>& group_by = {});

struct TableOptions {
  std::vector<std::string> group_by{};               // keys; empty: what differs only in the seed
  std::string sort{};                                // a column; empty: the order of the runs
  bool json = false, markdown = false, csv = false;  // at most one; none: a text table
};
/// Prints a table on stdout, and on stderr what in it may mislead.
void print_table(const Runs& runs, const TableOptions& options);

}  // namespace rondo
