// A table: columns of cells, printed as text for a terminal, as Markdown, as LaTeX, as comma-separated values
// and as HTML. Of runs: lm/report/run_groups.h.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rondo {

/// Stands for a missing value.
inline const std::string dash = "-";

/// A mean of `n` values.
struct Mean {
  std::size_t n = 0;
  double value = 0, deviation = 0;  // sample standard deviation (n - 1); 0 for one
};
Mean mean_of(const std::vector<double>& values);

struct TableCell {
  TableCell(std::string shown = dash, std::optional<Mean> its_number = {})
      : text(std::move(shown)), number(its_number) {}
  TableCell(std::string shown, double its_number) : TableCell(std::move(shown), Mean{1, its_number}) {}

  std::string text;
  std::optional<Mean> number;  // where the text is not a number alone: what it says as one
};

struct TextColumn {
  std::string name;
  bool is_text = false;      // aligned left; numbers are aligned right
  bool is_verbatim = false;  // a text in which a dash is one, and which no spreadsheet changes
};

struct TextTable {
  std::vector<TextColumn> columns{};
  std::vector<std::vector<TableCell>> rows{};  // each with a cell for each column
};

/// Returns the lines of a table. What all of several rows have in common stands above it. The header has two
/// lines: in one it would be wider than the numbers. Columns beyond `width` follow below, each part of the
/// table with the first column.
std::string text_of(const TextTable& table, int width);
/// Does the same with the width of the terminal, or 120 if stdout is not a terminal.
std::string text_of(const TextTable& table);
/// Returns Markdown, for a page on GitHub.
std::string markdown_of(const TextTable& table);
/// Returns a tabular of LaTeX, for a paper.
std::string latex_of(const TextTable& table);
/// Returns HTML, for lm/report/page.h.
std::string html_of(const TextTable& table);
/// Returns comma-separated values (RFC 4180), one number a field, a dash as an empty one. Beside means of
/// several runs columns of their own have the deviation, and how many runs have a value.
std::string csv_of(const TextTable& table);

/// Returns {"rows": [...]}, indented: of each row its values by the names of the columns: a number, a text,
/// null for a dash, or {"mean", "deviation", "n"} of several runs.
std::string json_text_of(const TextTable& table);

/// A function that writes a table in one of these forms.
using TableForm = std::string(const TextTable&);

}  // namespace rondo
