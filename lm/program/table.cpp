// `lm table`: see table.h.
#include "lm/program/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "lm/program/cli.h"
#include "lm/program/compared_settings.h"
#include "lm/program/output.h"
#include "lm/program/published.h"
#include "lm/program/table_json.h"
#include "lm/program/table_rows.h"
#include "lm/program/text_table.h"
#include "tensor/error.h"

namespace rondo {

void say_what_is_left_out(const MeasuredRuns& rows) {
  std::map<std::string, std::vector<std::string>> runs_of;  // by reason
  for (const MeasuredRun& row : rows) {
    const PublishedFigures& published = row.recipe().published;
    if (published_text(published).empty()) continue;
    const std::vector<std::string> changed = changed_keys(row.recipe(), row.is_finetuned());
    if (!changed.empty())
      runs_of[fmt::format("settings are not those of the recipe {}: {}", row.recipe().name,
                          fmt::join(changed, ", "))]
          .push_back(row.run);
    else if (!row.is_of_the_papers_text())
      runs_of[fmt::format("they are of another text (published.vocabulary = {}, here {}; "
                          "published.test_symbols = {}, here {}; 0: not known)",
                          published.vocabulary, row.types, published.test_symbols,
                          row.measured[test_kind] ? row.measured[test_kind]->symbols : 0)]
          .push_back(row.run);
  }
  for (const auto& [reason, runs] : runs_of)
    fmt::print(stderr, "lm: {}{}: published figures are left out: {}\n", runs.front(),
               runs.size() > 1 ? fmt::format(" and {} more", runs.size() - 1) : "", reason);
}

std::pair<MeasuredRuns, int> readable_runs(const std::vector<std::string>& paths) {
  MeasuredRuns runs;
  int status = 0;
  for (const std::string& path : paths) try {
      runs.push_back(measured_run(path));
    } catch (const InputError&) {
      const Failure failure = current_failure();
      fmt::print(stderr, "{}\n", failure.line);
      status = failure.exit_status;
    }
  return {std::move(runs), status};
}

namespace {

/// A note if a mean is over runs of different settings.
void say_what_groups_mix(const MeasuredRuns& rows, const std::vector<std::string>& keys) {
  std::set<std::string> mixed;
  for (const MeasuredRuns& group : groups_of(rows, keys))
    for (const std::string& key : differing_keys(group))
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) mixed.insert(key);
  if (!mixed.empty())
    fmt::print(stderr,
               "lm: the runs of a group also differ in {}: means and deviations are over these, too\n",
               fmt::join(mixed, ", "));
}

}  // namespace

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
  const auto& [rows, status] = readable_runs(runs_among(options.runs));
  if (rows.empty()) return status;
  if (options.json) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const MeasuredRun& row : rows) list.push_back(json_of(row));
    Json groups = Json::array();
    const auto [lines, keys] = rows_of(rows, options.group_by);
    for (const MeasuredRuns& line : lines) groups.push_back(json_of(line, keys));
    print_json(Json{{"runs", list}, {"groups", groups}});
  } else {
    TextTable columns = table_of(rows, options.group_by);
    if (!options.sort.empty()) sort_rows(columns, options.sort);
    fmt::print("{}", options.csv        ? csv_of(columns)
                     : options.markdown ? markdown_of(columns)
                     : options.full     ? text_of(columns)
                                        : short_text_of(columns, "--full shows all columns"));
    if (!options.group_by.empty()) say_what_groups_mix(rows, options.group_by);
    say_what_is_left_out(rows);
    say_what_misleads(rows);
    say_what_does_not_compare(rows);
  }
  return status;
}

}  // namespace rondo
