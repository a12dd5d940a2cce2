// `lm table`: see table.h.
#include "lm/program/table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lm/program/output.h"
#include "lm/program/run_table.h"
#include "tensor/error.h"

namespace rondo {

int table(const TableOptions& options) {
  const bool is_sweep = options.runs.size() == 1 && holds_runs(options.runs[0]);
  const bool arranges = !options.group_by.empty() || !options.sort.empty() || options.csv;
  if (is_sweep && !arranges) {
    print_sweep(
        options.runs[0],
        {.json = options.json, .markdown = options.markdown, .plot = options.plot, .drawn = options.drawn});
    return 0;
  }
  const bool draws = !options.plot.empty() || !options.drawn.over.empty() || options.drawn.band;
  check_input(!draws || is_sweep, "table: --plot, --over and --band are for the folder of one sweep");
  check_input(
      !draws,
      "table: --plot, --over and --band draw a sweep as it is: leave out --group-by, --sort and --csv");
  check_input(options.sort.empty() || !options.json,
              "table: --sort orders the rows of a table: leave it out with --json");
  const auto& [runs, status] = read_runs(runs_among(options.runs));
  if (runs.empty()) return status;
  if (options.json) {
    print_json(json_of(runs, options.group_by));
    return status;
  }
  TextTable rows = table_of(runs, options.group_by);
  if (!options.sort.empty()) sort_rows(rows, options.sort);
  fmt::print("{}", options.csv        ? csv_of(rows)
                   : options.markdown ? markdown_of(rows)
                   : options.full     ? text_of(rows)
                                      : short_text_of(rows, "--full shows all columns"));
  if (!options.group_by.empty()) warn_mixed_groups(group_by_keys(runs, options.group_by), options.group_by);
  warn_omitted_published(runs);
  warn_misleading(runs);
  warn_incomparable(runs);
  return status;
}

}  // namespace rondo
