// A table: columns of cells, printed as text for a terminal, as Markdown, as comma-separated values and as
// HTML. Of runs: lm/report/run_table.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rondo {

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

}  // namespace rondo
