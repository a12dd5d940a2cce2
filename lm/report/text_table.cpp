// Tables as text, Markdown, HTML and CSV.
#include "lm/report/text_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/files/lines.h"
#include "lm/program/terminal.h"
#include "lm/report/svg.h"

namespace rondo {

Mean mean_of(const std::vector<double>& values) {
  Mean it{values.size()};
  for (const double value : values) it.value += value / static_cast<double>(it.n);
  double squares = 0;
  for (const double value : values) squares += (value - it.value) * (value - it.value);
  if (it.n > 1) it.deviation = std::sqrt(squares / static_cast<double>(it.n - 1));
  return it;
}

namespace {

/// A column in lines of the same width, the header's two before the cells.
std::vector<std::string> lines_of(const TextTable& table, std::size_t column) {
  const auto& [name, is_text] = table.columns[column];
  const std::size_t space = name.find(' ');
  std::vector<std::string> lines{space == std::string::npos ? "" : name.substr(0, space),
                                 name.substr(space + 1)};
  for (const auto& row : table.rows) lines.push_back(row[column].text);
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, columns_of(line));
  for (std::string& line : lines)
    line = fmt::format(fmt::runtime(is_text ? "{:<{}}" : "{:>{}}"), line, width);
  return lines;
}

/// The names of the columns, then the texts of each row, as `written` writes them.
template <class Written>
std::vector<std::vector<std::string>> texts_of(const TextTable& table, Written written) {
  std::vector<std::vector<std::string>> lines(1);
  for (const TextColumn& it : table.columns) lines[0].push_back(written(it.name));
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const TableCell& cell : row) lines.back().push_back(written(cell.text));
  }
  return lines;
}

/// The text with `escape` before each `letter`.
std::string escaped(const std::string& text, char letter, char escape) {
  std::string result;
  for (const char it : text) {
    if (it == letter) result += escape;
    result += it;
  }
  return result;
}

/// A text as a field of comma-separated values.
std::string csv_field(const std::string& text) {
  if (text == dash) return "";
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  return "\"" + escaped(text, '"', '"') + "\"";
}

}  // namespace

std::string text_of(const TextTable& table, int width) {
  constexpr int gap = 2;
  const std::vector<std::string> first = lines_of(table, 0);
  std::vector<std::string> part = first, common;
  std::string text;
  const auto end_part = [&] {
    if (!text.empty()) text += '\n';
    for (const std::string& line : part) text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    part = first;
  };
  for (std::size_t i = 1; i < table.columns.size(); ++i) {
    const std::string& value = table.rows.front()[i].text;
    const bool is_common =
        table.rows.size() > 1 && std::all_of(table.rows.begin(), table.rows.end(),
                                             [&](const auto& row) { return row[i].text == value; });
    if (is_common) {
      common.push_back(fmt::format("{}: {}", table.columns[i].name, value));
      continue;
    }
    const std::vector<std::string> next = lines_of(table, i);
    if (part != first && columns_of(part.front()) + gap + columns_of(next.front()) > width) end_part();
    for (std::size_t line = 0; line < part.size(); ++line) part[line] += std::string(gap, ' ') + next[line];
  }
  end_part();
  if (common.empty()) return text;
  return wrapped(fmt::format("in all rows: {}", fmt::join(common, "; ")), width) + "\n\n" + text;
}

int table_width() {
  constexpr int elsewhere = 120;
  return is_terminal(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : elsewhere;
}

std::string markdown_of(const TextTable& table) {
  auto lines = texts_of(table, [](const std::string& text) { return escaped(text, '|', '\\'); });
  std::string markdown = fmt::format("| {} |\n|", fmt::join(lines[0], " | "));
  for (const TextColumn& it : table.columns) markdown += it.is_text ? "---|" : "---:|";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    lines[i][0] = fmt::format("`{}`", lines[i][0]);
    markdown += fmt::format("\n| {} |", fmt::join(lines[i], " | "));
  }
  return markdown + '\n';
}

std::string html_of(const TextTable& table) {
  std::string html = "<table>\n";
  for (const std::vector<std::string>& line : texts_of(table, svg_escaped))
    html += fmt::format("<tr><td>{}</td></tr>\n", fmt::join(line, "</td><td>"));
  return html + "</table>\n";
}

std::string csv_of(const TextTable& table) {
  TextTable numbers{{}, std::vector<std::vector<TableCell>>(table.rows.size())};
  const auto add = [&](const std::string& name, std::size_t column, auto text_of) {
    numbers.columns.push_back({name});
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      numbers.rows[i].emplace_back(text_of(table.rows[i][column]));
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& [name, is_text] = table.columns[i];
    add(name, i, [is_text = is_text](const TableCell& cell) {
      if (cell.number) return fmt::format("{}", cell.number->value);
      return is_text || number_in(cell.text) ? cell.text : dash;
    });
    const bool is_of_means = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return row[i].number && row[i].number->n > 1;
    });
    if (!is_of_means) continue;
    add(name + " deviation", i, [](const TableCell& cell) {
      return cell.number && cell.number->n > 1 ? fmt::format("{}", cell.number->deviation) : dash;
    });
    add(name + " n", i,
        [](const TableCell& cell) { return fmt::format("{}", cell.number ? cell.number->n : 0); });
  }
  std::string csv;
  for (const std::vector<std::string>& line : texts_of(numbers, csv_field))
    csv += fmt::format("{}\n", fmt::join(line, ","));
  return csv;
}

nlohmann::ordered_json json_of(const TextTable& table) {
  using Json = nlohmann::ordered_json;
  const auto value_of = [](const TableCell& cell, bool is_text) -> Json {
    if (cell.text == dash) return nullptr;
    if (cell.number && cell.number->n > 1)
      return {{"mean", cell.number->value}, {"deviation", cell.number->deviation}, {"n", cell.number->n}};
    if (cell.number) return cell.number->value;
    return is_text || !Json::accept(cell.text) ? Json(cell.text) : Json::parse(cell.text);
  };
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json& object = rows.emplace_back(Json::object());
    for (std::size_t i = 0; i < row.size(); ++i)
      object[table.columns[i].name] = value_of(row[i], table.columns[i].is_text);
  }
  return rows;
}

}  // namespace rondo
