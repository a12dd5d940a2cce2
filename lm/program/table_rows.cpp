// How `lm table` puts runs into rows and columns.
#include "lm/program/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lm/program/compared_settings.h"
#include "lm/program/nearest.h"
#include "lm/program/paths.h"
#include "lm/program/progress.h"
#include "lm/program/shell_command.h"
#include "lm/program/sweep_grid.h"
#include "lm/program/table_figures.h"
#include "tensor/error.h"

namespace rondo {

Rows rows_of(const MeasuredRuns& runs, const std::vector<std::string>& group_by) {
  for (const std::string& name : group_by) {
    std::vector<std::string> known;
    for (const MeasuredRun& run : runs) {
      Recipe recipe = run.recipe();
      for (const Key& key : keys_of(recipe)) known.push_back(key.name);
    }
    const bool is_list = name.find(',') != name.npos;
    const std::string otherwise = fmt::format("; `{} info --keys` lists them", this_program());
    check_input(std::find(known.begin(), known.end(), name) != known.end(), "--group-by {}: no such key{}",
                name, is_list ? "; give --group-by once for each key" : did_you_mean(name, known, otherwise));
  }
  if (!group_by.empty()) return {groups_of(runs, group_by), group_by};
  Rows rows{lines_of(runs), {}};
  // Between recipes, and between a training and a finetuning, nearly everything differs, and their names say
  // it; the column of epochs says how long they were to be.
  std::map<std::pair<std::string, bool>, MeasuredRuns> comparable;
  for (const MeasuredRun& run : runs) comparable[{run.recipe().name, run.is_finetuned()}].push_back(run);
  const auto is_shown = [&](const std::string& key) {
    return !key.starts_with("published.") && key != "train.epochs" && key != "train.steps" &&
           std::find(rows.keys.begin(), rows.keys.end(), key) == rows.keys.end();
  };
  for (const auto& [name, group] : comparable)
    for (const std::string& key : differing_keys(group))
      if (is_shown(key)) rows.keys.push_back(key);
  return rows;
}

namespace {

/// The recipe's name; for a single run also the folder's name, if it differs.
std::string title_of(const MeasuredRuns& line) {
  const MeasuredRun& row = line.front();
  const std::string& begun_with = row.config.made_by.initialized_from;
  const std::string recipe =
      row.recipe().name + (row.is_finetuned()    ? ", finetuned"
                           : !begun_with.empty() ? ", begun with " + last_name(begun_with)
                                                 : "");
  if (line.size() > 1) return recipe;
  const std::string folder = last_name(row.run);
  return folder == recipe ? folder : fmt::format("{} ({})", recipe, folder);
}

std::string epochs_of(const MeasuredRun& row) {
  const TrainerOptions& planned = row.recipe().trainer;
  if (row.epochs == 0) return dash;  // imported, or not evaluated yet
  const bool is_whole = row.epochs_trained == static_cast<double>(row.epochs);
  const std::string trained =
      is_whole ? fmt::format("{}", row.epochs) : fmt::format("{:.2f}", row.epochs_trained);
  if (planned.steps > 0 && row.steps > 0 && row.steps < planned.steps)
    return fmt::format("{} ({} of {} steps)", trained, row.steps, planned.steps);
  if (planned.steps > 0) return fmt::format("{} ({} steps)", trained, planned.steps);
  return is_whole && row.epochs == planned.epochs ? trained
                                                  : fmt::format("{} of {}", trained, planned.epochs);
}

std::string state_of(const MeasuredRun& row) {
  return row.is_imported()           ? "imported"
         : row.has_unevaluated_model ? "unfinished, not evaluated"
         : row.finished              ? row.keeps_base ? "finished, weights unchanged" : "finished"
                                     : "unfinished";
}

/// A name of the run's text; a dash if it has none.
std::string text_name_of(const MeasuredRun& row) {
  const std::string name = short_name_of_text(row.config.made_by);
  return name.empty() ? dash : name;
}

}  // namespace

TextTable table_of(const MeasuredRuns& rows, const std::vector<std::string>& group_by) {
  const auto [lines, keys] = rows_of(rows, group_by);
  TextColumn name{"recipe", true, {}}, text{"text", true, {}}, precision{"precision", true, {}},
      runs{"runs", false, {}}, state{"state", true, {}};
  FigureColumn parameters("parameters", false), epochs("epochs", false), planned("epochs planned", false),
      time("training time", false);
  TextTable settings;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string shown = shown_name(keys[i], keys);
    settings.push_back({shown == "epochs" ? keys[i] : shown, false, {}});  // the table has epochs of its own
    TextColumn& column = settings.back();
    column.shown = ColumnShown::if_it_differs;
    for (const MeasuredRuns& line : lines) {
      const std::string value = values_of(line.front().recipe(), keys)[i];
      column.cells.push_back(value);
      column.is_text |= value != dash && !number_of(value);
    }
  }
  const auto any = [](bool there, auto number) {
    return there ? std::optional(static_cast<double>(number)) : std::nullopt;
  };
  std::set<std::vector<std::string>> texts;
  std::map<std::string, int> titles;
  for (const MeasuredRuns& line : lines) ++titles[title_of(line)];
  for (const MeasuredRuns& line : lines) {
    const std::string title = title_of(line);
    const bool is_unique = titles[title] == 1 || line.size() > 1;
    name.cells.push_back(is_unique ? title
                                   : fmt::format("{} ({})", line.front().recipe().name, line.front().run));
    text.cells.push_back(joined(line, text_name_of));
    precision.cells.push_back(joined(
        line, [](const MeasuredRun& row) { return std::string(name_of(row.config.made_by.precision)); }));
    for (const MeasuredRun& row : line)
      if (const auto& sha256 = row.config.made_by.sha256; !sha256.empty()) texts.insert(digests_of(sha256));
    runs.cells.push_back(fmt::format("{}", line.size()));
    parameters.add(joined(line, [](const MeasuredRun& row) { return fmt::format("{}", row.parameters); }),
                   line, [&](const MeasuredRun& row) { return any(true, row.parameters); });
    const std::string read = joined(line, epochs_of);
    epochs.add(read, line, [&](const MeasuredRun& row) { return any(row.epochs > 0, row.epochs_trained); });
    planned.add(read, line, [&](const MeasuredRun& row) {
      const TrainerOptions& options = row.recipe().trainer;
      return any(options.steps == 0 && !row.is_imported(), options.epochs);
    });
    state.cells.push_back(joined(line, state_of));
    time.add(joined(line,
                    [](const MeasuredRun& row) {
                      return row.training_seconds ? duration_text(*row.training_seconds) : dash;
                    }),
             line, [](const MeasuredRun& row) { return row.training_seconds; });
  }
  text.shown = runs.shown = state.shown = ColumnShown::if_it_differs;
  TextTable columns{name};
  if (texts.size() > 1) columns.push_back(text);
  const bool one_precision = std::adjacent_find(precision.cells.begin(), precision.cells.end(),
                                                std::not_equal_to()) == precision.cells.end();
  if (!one_precision) columns.push_back(precision);
  columns.insert(columns.end(), settings.begin(), settings.end());
  if (lines.size() < rows.size()) columns.push_back(runs);
  columns.push_back(parameters.column());
  columns.back().shown = ColumnShown::if_it_differs;
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) add_figures(columns, lines, k);
  add_sentence_figures(columns, lines);
  columns.push_back(epochs.column());
  columns.back().is_text = true;
  columns.back().shown = ColumnShown::if_it_differs;
  if (const TextColumn in_csv = planned.column().in_csv.front(); !is_empty(in_csv))
    columns.back().in_csv.push_back(in_csv);
  const bool are_all_finished = std::all_of(
      rows.begin(), rows.end(), [](const MeasuredRun& row) { return state_of(row) == "finished"; });
  if (!are_all_finished) columns.push_back(state);
  columns.push_back(time.column("training seconds"));
  return columns;
}

}  // namespace rondo
