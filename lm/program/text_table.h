// A table of texts, for a terminal and for a page. Its users: lm/program/table.cpp,
// lm/program/sweep_report.cpp.
#pragma once

#include <string>
#include <vector>

namespace rondo {

/// Stands for a missing figure.
inline const std::string dash = "-";

struct TextColumn {
  std::string name;
  bool is_text = false;            // aligned left; numbers are aligned right
  std::vector<std::string> cells;  // one per row
};
bool is_empty(const TextColumn& column);

/// All columns have as many cells.
using TextTable = std::vector<TextColumn>;
/// In lines. The header has two of them: in one it would be wider than the numbers.
std::string text_of(const TextTable& columns);
/// For a page on GitHub.
std::string markdown_of(const TextTable& columns);

}  // namespace rondo
