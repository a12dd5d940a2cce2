// A table of texts.
#include "lm/program/text_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string_view>
#include <tuple>

#include "lm/program/progress.h"
#include "lm/program/svg_plot.h"
#include "tensor/error.h"

namespace rondo {

bool is_empty(const TextColumn& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [](const std::string& cell) { return cell == dash; });
}

namespace {

/// A column in lines of the same width, the header's two before the cells.
std::vector<std::string> lines_of(const TextColumn& column) {
  const std::size_t space = column.name.find(' ');
  std::vector<std::string> lines{space == std::string::npos ? "" : column.name.substr(0, space),
                                 column.name.substr(space + 1)};
  lines.insert(lines.end(), column.cells.begin(), column.cells.end());
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, columns_of(line));
  for (std::string& line : lines)
    line = column.is_text ? fmt::format("{:<{}}", line, width) : fmt::format("{:>{}}", line, width);
  return lines;
}

}  // namespace

std::string text_of(const TextTable& columns, int width) {
  constexpr int gap = 2;
  const std::vector<std::string> first = lines_of(columns.front());
  std::string text;
  std::vector<std::string> part = first;
  const auto end_part = [&] {
    if (!text.empty()) text += '\n';
    for (const std::string& line : part) text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  };
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const std::vector<std::string> next = lines_of(columns[i]);
    const bool fits = columns_of(part.front()) + gap + columns_of(next.front()) <= width;
    if (!fits && part != first) {
      end_part();
      part = first;
    }
    for (std::size_t line = 0; line < part.size(); ++line) part[line] += std::string(gap, ' ') + next[line];
  }
  end_part();
  return text;
}

std::string short_text_of(const TextTable& columns, const std::string& how, int width) {
  TextTable kept{columns.front()};
  std::vector<std::string> common, left_out;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const TextColumn& column = columns[i];
    if (is_empty(column)) continue;
    const std::vector<std::string>& cells = column.cells;
    const bool differs = std::adjacent_find(cells.begin(), cells.end(), std::not_equal_to()) != cells.end();
    if (column.shown == ColumnShown::always || (differs && column.shown == ColumnShown::if_it_differs))
      kept.push_back(column);
    else if (differs)
      left_out.push_back(column.name);
    else
      common.push_back(fmt::format("{}: {}", column.name, cells.front()));
  }
  std::string text;
  if (!common.empty())
    text += wrapped(fmt::format("{}{}", columns.front().cells.size() > 1 ? "in all rows: " : "",
                                fmt::join(common, "; ")),
                    width) +
            "\n\n";
  text += text_of(kept, width);
  if (!left_out.empty())
    text += '\n' + wrapped(fmt::format("left out: {}; {}", fmt::join(left_out, ", "), how), width) + '\n';
  return text;
}

int table_width() {
  constexpr int elsewhere = 120;
  return is_terminal(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : elsewhere;
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

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string_view rest(end);
  const bool is_number = end != text.c_str() && std::isfinite(number) &&
                         (rest.empty() || rest.starts_with(plus_minus) || rest.starts_with(" ("));
  return is_number ? std::optional(number) : std::nullopt;
}

std::string csv_field(const std::string& text) {
  if (text == dash) return "";
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + "\"";
}

std::string csv_of(const TextTable& columns) {
  std::vector<std::vector<std::string>> lines(columns.front().cells.size() + 1);
  const auto add = [&](const TextColumn& column) {
    lines[0].push_back(csv_field(column.name));
    for (std::size_t i = 0; i < column.cells.size(); ++i) lines[i + 1].push_back(csv_field(column.cells[i]));
  };
  for (const TextColumn& column : columns) {
    if (column.in_csv.empty()) add(column);
    for (const TextColumn& part : column.in_csv) add(part);
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) text += fmt::format("{}\n", fmt::join(line, ","));
  return text;
}

void sort_rows(TextTable& columns, const std::string& name) {
  std::vector<std::string> names;
  for (const TextColumn& column : columns) names.push_back(column.name);
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    found = std::find_if(names.begin(), names.end(),
                         [&](const std::string& it) { return it.find(name) != std::string::npos; });
  check_input(found != names.end(), "--sort {}: no such column; there are: {}", name, fmt::join(names, ", "));
  const TextColumn& column = columns[static_cast<std::size_t>(found - names.begin())];
  const std::vector<std::string> keys = (column.in_csv.empty() ? column : column.in_csv.front()).cells;
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](std::size_t row) {  // dashes last
    const std::optional<double> number = number_of(keys[row]);
    return std::tuple(keys[row] == dash ? 2 : number ? 0 : 1, number.value_or(0), keys[row]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  const auto arrange = [&](TextColumn& it) {
    std::vector<std::string> cells;
    for (const std::size_t row : order) cells.push_back(it.cells[row]);
    it.cells = std::move(cells);
  };
  for (TextColumn& it : columns) {
    arrange(it);
    for (TextColumn& part : it.in_csv) arrange(part);
  }
}

std::string html_of(const TextTable& columns) {
  std::string html = "<table>\n<thead><tr>";
  const auto cell = [&](const char* tag, const TextColumn& column, const std::string& text) {
    html += fmt::format("<{0}{1}>{2}</{0}>", tag, column.is_text ? " class='text'" : "", svg_escaped(text));
  };
  for (const TextColumn& column : columns) cell("th", column, column.name);
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < columns.front().cells.size(); ++i) {
    html += "<tr>";
    for (const TextColumn& column : columns) cell("td", column, column.cells[i]);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

}  // namespace rondo
