// Tables of texts and numbers, and groups of runs with the means of their scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/report/run_record.h"

namespace rondo {

// --- Text table ---
// A table: columns of cells, printed as text for a terminal, as Markdown, as comma-separated values and as
// HTML. Of runs: lm/report/run_table.h.

/// Stands for a missing value.
inline const std::string dash = "-";
/// Stands between a mean and its deviation.
inline const std::string plus_minus = " ± ";

/// A mean over those of a group that have a value.
struct Mean {
  std::size_t n = 0, of = 0;        // how many have one, of how many
  double value = 0, deviation = 0;  // sample standard deviation (n - 1); 0 for one
};
Mean mean_of(const std::vector<double>& values, std::size_t of);

struct TableCell {
  TableCell(std::string shown = dash, std::optional<Mean> its_number = {})
      : text(std::move(shown)), number(its_number) {}
  TableCell(std::string shown, double its_number) : TableCell(std::move(shown), Mean{1, 1, its_number}) {}

  std::string text;
  std::optional<Mean> number;  // where the text is not a number alone: what it says as one
};

/// How a short table has a column. Where all its cells are the same, a column that only shows differences, or
/// a detail, is a line above the table. Where they differ, a detail is left out.
enum class ColumnShown { always, if_it_differs, as_a_detail };

struct TextColumn {
  std::string name;
  bool is_text = false;            // aligned left; numbers are aligned right
  std::vector<TableCell> cells{};  // one per row
  ColumnShown shown = ColumnShown::always;
};
bool is_empty(const TextColumn& column);
inline TableCell count_cell(std::int64_t count) {
  return {std::to_string(count), static_cast<double>(count)};
}

/// All columns have the same number of cells.
using TextTable = std::vector<TextColumn>;
/// Returns the width of the terminal; 120 if stdout is not a terminal.
int table_width();
/// Returns the lines of a table. The header has two of them: in one it would be wider than the numbers.
/// Columns beyond `width` follow below, each part of the table with the first column.
std::string text_of(const TextTable& table, int width = table_width());
/// Returns them without details. Above the table stands what all rows have in common, below
/// it which details are left out, and how to see them.
std::string short_text_of(const TextTable& table, const std::string& how, int width = table_width());
/// Returns Markdown, for a page on GitHub.
std::string markdown_of(const TextTable& table);
/// Returns HTML, for lm/report/page.h.
std::string html_of(const TextTable& table);
/// Returns comma-separated values, one number a field, a dash as an empty one. Where deviations differ from
/// 0, or some of a group have no value, columns of their own have the deviation and the number of those that
/// have.
std::string csv_of(const TextTable& table);
/// Returns a text as a field of comma-separated values (RFC 4180), quoted if needed; empty for a dash.
std::string csv_field(const std::string& text);

/// Returns the number that a text is; none if it is more than a number.
std::optional<double> number_of(const std::string& text);
/// Sorts the rows by a column, numbers by their size, dashes last. InputError, with the columns, unless
/// `name` is a column's name, or a part of it.
void sort_rows(TextTable& table, const std::string& name);

// --- Run groups ---
// Groups of runs that are compared: which share a row, which settings differ between them, means over them,
// and warnings about what does not compare. As a table: lm/report/run_table.h.

using Runs = std::vector<std::shared_ptr<const RunRecord>>;

/// Whether it is a folder that is not a run, but has folders that are, as that of a sweep.
bool holds_runs(const std::filesystem::path& folder);
/// Reads the runs at these paths, and in place of a folder that holds runs these. Of several paths, as
/// "SWEEP/*" gives them, those of diagrams, pages and tables that `lm` wrote beside runs are left out. So is
/// what is not a run, or has a broken file, with a line on stderr and an exit status that is not 0.
std::pair<Runs, int> read_runs(const std::vector<std::string>& paths);

/// Groups finished runs that differ only in their seed, in the order of each group's first run. A group has
/// each seed once: a second run with the same seed, or a copy, begins another group; so does an unfinished
/// run.
std::vector<Runs> group_by_settings(const Runs& runs);
/// Groups runs of a recipe on the same text that have the same values of these keys, whatever other settings
/// differ; finished and unfinished ones apart.
std::vector<Runs> group_by_keys(const Runs& runs, const std::vector<std::string>& keys);

/// Returns the keys whose values are not the same in all runs, in the recipe's order, without the seed and
/// without what affects no measurement. Runs may be of several tasks.
std::vector<std::string> differing_keys(const Runs& runs);
/// Returns the values of these keys for a reader: strings without quotes, lists of one number as that number,
/// a dash for a key that the recipe's task does not have.
std::vector<std::string> values_of(const Recipe& recipe, const std::vector<std::string>& keys);
/// Returns the part of a key's name after the section, or all of it if another of `keys` has the same.
std::string shown_name(const std::string& key, const std::vector<std::string>& keys);

/// Returns the mean of a score over those of a group that have it; none if they were measured with different
/// settings.
std::optional<Mean> mean_score(const Runs& group, std::size_t kind, const std::string& key);
/// Shows the score of one run, or the mean of several and their standard deviation; then the number of runs
/// that have it, if not all have.
TableCell score_cell(const Runs& group, std::size_t kind, const ScoreStyle& style);
/// The styles of all scores of runs.
std::vector<ScoreStyle> styles_of(const Runs& runs);
/// Returns the score by which runs of a recipe are compared.
ScoreStyle decisive_score(const Recipe& recipe);

/// Says on stderr why runs have no published results beside theirs.
void warn_omitted_published(const Runs& runs);
/// Names on stderr the runs that are not evaluated yet, and measurements that say less than they seem to.
void warn_misleading(const Runs& runs);
/// Names on stderr vocabularies that differ between runs of one text, and runs to which many symbols are
/// unknown.
void warn_incomparable(const Runs& runs);
/// Names on stderr settings, other than these keys, over which the means of groups are taken.
void warn_mixed_groups(const std::vector<Runs>& groups, const std::vector<std::string>& keys);

}  // namespace rondo
