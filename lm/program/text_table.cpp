// A table of texts.
#include "lm/program/text_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rondo {

bool is_empty(const TextColumn& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [](const std::string& cell) { return cell == dash; });
}

std::string text_of(const TextTable& columns) {
  const std::size_t rows = columns.front().cells.size();
  std::vector<std::string> lines(rows + 2);
  for (const TextColumn& column : columns) {
    const std::size_t space = column.name.find(' ');
    std::vector<std::string> cells{space == std::string::npos ? "" : column.name.substr(0, space),
                                   column.name.substr(space + 1)};
    cells.insert(cells.end(), column.cells.begin(), column.cells.end());
    const auto letters = [](const std::string& cell) {  // of UTF-8
      return static_cast<std::size_t>(
          std::count_if(cell.begin(), cell.end(), [](char it) { return (it & 0xC0) != 0x80; }));
    };
    std::size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, letters(cell));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (&column != &columns.front()) lines[i] += "  ";
      lines[i] +=
          column.is_text ? fmt::format("{:<{}}", cells[i], width) : fmt::format("{:>{}}", cells[i], width);
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  return text;
}

std::string markdown_of(const TextTable& columns) {
  std::vector<std::string> lines(columns.front().cells.size() + 2, "|");
  for (const TextColumn& column : columns) {
    lines[0] += fmt::format(" {} |", column.name);
    lines[1] += column.is_text ? "---|" : "---:|";
    for (std::size_t i = 0; i < column.cells.size(); ++i) {
      std::string cell;
      for (const char letter : column.cells[i])
        cell += letter == '|' ? std::string("\\|") : std::string(1, letter);
      lines[i + 2] += &column == &columns.front() ? fmt::format(" `{}` |", cell) : fmt::format(" {} |", cell);
    }
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace rondo
