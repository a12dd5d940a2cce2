// Tables as text, Markdown, HTML and CSV.
#include "lm/report/text_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "lm/program/terminal.h"
#include "lm/report/svg.h"
#include "tensor/error.h"

namespace rondo {

Mean mean_of(const std::vector<double>& values, std::size_t of) {
  Mean it{values.size(), of};
  for (const double value : values) it.value += value / static_cast<double>(it.n);
  double squares = 0;
  for (const double value : values) squares += (value - it.value) * (value - it.value);
  if (it.n > 1) it.deviation = std::sqrt(squares / static_cast<double>(it.n - 1));
  return it;
}

bool is_empty(const TextColumn& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [](const TableCell& cell) { return cell.text == dash; });
}

namespace {

/// A column in lines of the same width, the header's two before the cells.
std::vector<std::string> lines_of(const TextColumn& column) {
  const std::size_t space = column.name.find(' ');
  std::vector<std::string> lines{space == std::string::npos ? "" : column.name.substr(0, space),
                                 column.name.substr(space + 1)};
  for (const TableCell& cell : column.cells) lines.push_back(cell.text);
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, columns_of(line));
  for (std::string& line : lines)
    line = column.is_text ? fmt::format("{:<{}}", line, width) : fmt::format("{:>{}}", line, width);
  return lines;
}

}  // namespace

std::string text_of(const TextTable& table, int width) {
  constexpr int gap = 2;
  const std::vector<std::string> first = lines_of(table.front());
  std::string text;
  std::vector<std::string> part = first;
  const auto end_part = [&] {
    if (!text.empty()) text += '\n';
    for (const std::string& line : part) text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  };
  for (std::size_t i = 1; i < table.size(); ++i) {
    const std::vector<std::string> next = lines_of(table[i]);
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

std::string short_text_of(const TextTable& table, const std::string& how, int width) {
  TextTable kept{table.front()};
  std::vector<std::string> common, left_out;
  for (std::size_t i = 1; i < table.size(); ++i) {
    const TextColumn& column = table[i];
    const std::string& first = column.cells.front().text;
    const bool differs = std::any_of(column.cells.begin(), column.cells.end(),
                                     [&](const TableCell& cell) { return cell.text != first; });
    if (column.shown == ColumnShown::always || (differs && column.shown == ColumnShown::if_it_differs))
      kept.push_back(column);
    else if (differs)
      left_out.push_back(column.name);
    else
      common.push_back(fmt::format("{}: {}", column.name, first));
  }
  std::string text;
  if (!common.empty())
    text += wrapped(fmt::format("{}{}", table.front().cells.size() > 1 ? "in all rows: " : "",
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

std::string markdown_of(const TextTable& table) {
  std::vector<std::string> lines(table.front().cells.size() + 2, "|");
  for (const TextColumn& column : table) {
    lines[0] += fmt::format(" {} |", column.name);
    lines[1] += column.is_text ? "---|" : "---:|";
    for (std::size_t i = 0; i < column.cells.size(); ++i) {
      std::string cell;
      for (const char letter : column.cells[i].text)
        cell += (letter == '|' ? "\\" : "") + std::string(1, letter);
      lines[i + 2] += &column == &table.front() ? fmt::format(" `{}` |", cell) : fmt::format(" {} |", cell);
    }
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string html_of(const TextTable& table) {
  std::string html = "<table>\n";
  for (std::size_t line = 0; line <= table.front().cells.size(); ++line) {
    html += "<tr>";
    for (const TextColumn& column : table)
      html += fmt::format("<{0}{1}>{2}</{0}>", line == 0 ? "th" : "td", column.is_text ? " class='text'" : "",
                          svg_escaped(line == 0 ? column.name : column.cells[line - 1].text));
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_number = end == text.c_str() + text.size() && !text.empty() && std::isfinite(number);
  return is_number ? std::optional(number) : std::nullopt;
}

std::string csv_field(const std::string& text) {
  if (text == dash) return "";
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += (letter == '"' ? "\"" : "") + std::string(1, letter);
  return quoted + "\"";
}

std::string csv_of(const TextTable& table) {
  std::vector<std::vector<std::string>> lines(table.front().cells.size() + 1);
  const auto add = [&](const TextColumn& column, const std::string& of, auto field) {
    lines[0].push_back(csv_field(column.name + of));
    for (std::size_t i = 0; i < column.cells.size(); ++i)
      lines[i + 1].push_back(csv_field(field(column.cells[i])));
  };
  const auto number_text = [](bool is_there, double number) {
    return is_there ? fmt::format("{}", number) : dash;
  };
  for (const TextColumn& column : table) {
    add(column, "", [&](const TableCell& cell) {
      if (cell.number) return number_text(cell.number->n > 0, cell.number->value);
      return column.is_text || number_of(cell.text) ? cell.text : dash;
    });
    const auto any = [&](auto is_so) {
      return std::any_of(column.cells.begin(), column.cells.end(),
                         [&](const TableCell& cell) { return cell.number && is_so(*cell.number); });
    };
    if (any([](const Mean& it) { return it.deviation > 0; }))
      add(column, " deviation", [&](const TableCell& cell) {
        const Mean it = cell.number.value_or(Mean());
        return number_text(it.n > 1, it.deviation);
      });
    if (any([](const Mean& it) { return it.n > 0 && it.n < it.of; }))
      add(column, " n",
          [](const TableCell& cell) { return fmt::format("{}", cell.number ? cell.number->n : 0); });
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) text += fmt::format("{}\n", fmt::join(line, ","));
  return text;
}

void sort_rows(TextTable& table, const std::string& name) {
  std::vector<std::string> names;
  const TextColumn* column = nullptr;  // by its name, else by a part of it
  for (const TextColumn& it : table) {
    names.push_back(it.name);
    if (it.name == name || (!column && it.name.find(name) != std::string::npos)) column = &it;
  }
  check_input(column, "--sort {}: no such column; there are: {}", name, fmt::join(names, ", "));
  const std::vector<TableCell> keys = column->cells;
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](std::size_t row) {
    const auto& [text, mean] = keys[row];
    const std::optional<double> number =
        mean ? mean->n > 0 ? std::optional(mean->value) : std::nullopt : number_of(text);
    return std::tuple(text == dash ? 2 : number ? 0 : 1, number.value_or(0), text);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  for (TextColumn& it : table) {
    const std::vector<TableCell> cells = it.cells;
    for (std::size_t row = 0; row < order.size(); ++row) it.cells[row] = cells[order[row]];
  }
}

}  // namespace rondo
