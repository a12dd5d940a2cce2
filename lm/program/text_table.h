// A table of texts, for a terminal and for a page. Its users: lm/program/table_rows.cpp,
// lm/program/sweep_report.cpp, lm/program/plot.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rondo {

/// Stands for a missing figure.
inline const std::string dash = "-";
/// Stands between a mean and its deviation.
inline const std::string plus_minus = " ± ";

/// Which tables of a terminal have a column; Markdown and CSV have all. One that differs stands in a line
/// above the table where all its cells are the same. So does a detail, which a short table leaves out else.
enum class ColumnShown { always, if_it_differs, as_a_detail };

struct TextColumn {
  std::string name;
  bool is_text = false;            // aligned left; numbers are aligned right
  std::vector<std::string> cells;  // one per row
  /// What stands for it as comma-separated values and when rows are sorted, if its cells are more than a
  /// number each; empty: itself.
  std::vector<TextColumn> in_csv = {};
  ColumnShown shown = ColumnShown::always;
};
bool is_empty(const TextColumn& column);

/// All columns have as many cells.
using TextTable = std::vector<TextColumn>;
/// The columns of the terminal on stdout; 120 if it is none.
int table_width();
/// In lines. The header has two of them: in one it would be wider than the numbers. Columns beyond `width`
/// follow below, each part of the table with the first column.
std::string text_of(const TextTable& columns, int width = table_width());
/// The same without empty columns and details. Above the table stands what all rows have in common, below it
/// which details are left out, and how to see them.
std::string short_text_of(const TextTable& columns, const std::string& how, int width = table_width());
/// A number, alone or before a deviation or a count of runs; none: it is a text.
std::optional<double> number_of(const std::string& text);
/// A field of comma-separated values (RFC 4180), quoted if needed; empty for a dash.
std::string csv_field(const std::string& text);
/// Comma-separated values, a dash as an empty cell.
std::string csv_of(const TextTable& columns);
/// Sorts the rows by a column, numbers by their size, dashes last. InputError, with the columns, unless
/// `name` is a column's name, or a part of it.
void sort_rows(TextTable& columns, const std::string& name);
/// For a page on GitHub.
std::string markdown_of(const TextTable& columns);
/// For a page of lm/program/plot_page.h.
std::string html_of(const TextTable& columns);

}  // namespace rondo
