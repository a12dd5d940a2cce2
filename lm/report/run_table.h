// The table of `lm table`: a row for each group of runs, with what was measured of them, beside published
// results. All of it comes from the folders of the runs (lm/report/run_record.h); nothing is measured here,
// `lm eval` does that.
#pragma once

#include "lm/report/run_groups.h"

namespace rondo {

/// Makes a table. Finished runs that differ only in their seed share a row.
TextTable table_of(const Runs& runs);

/// Prints a table on stdout, as `write` writes it, and on stderr what in it may mislead.
void print_table(const Runs& runs, TableForm* write = text_of);

}  // namespace rondo
