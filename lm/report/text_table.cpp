// Tables as text, Markdown, LaTeX, HTML and CSV.
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

using Json = nlohmann::ordered_json;

/// A column in lines of the same width, the header's two before the cells.
std::vector<std::string> lines_of(const TextTable& table, std::size_t column) {
  const auto& [name, is_text, is_verbatim] = table.columns[column];
  const std::size_t space = name.find(' ');
  std::vector<std::string> lines{space == std::string::npos ? "" : name.substr(0, space),
                                 name.substr(space + 1)};
  for (const auto& row : table.rows) lines.push_back(printable(row[column].text));
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, columns_of(line));
  for (std::string& line : lines)
    line = fmt::format(fmt::runtime(is_text ? "{:<{}}" : "{:>{}}"), line, width);
  return lines;
}

/// Returns the names of the columns, then the texts of each row, as written(text, is_first_of_row) gives
/// them.
template <class Written>
std::vector<std::vector<std::string>> texts_of(const TextTable& table, Written written) {
  std::vector<std::vector<std::string>> lines(1);
  for (const TextColumn& it : table.columns) lines[0].push_back(written(it.name, false));
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const TableCell& cell : row) lines.back().push_back(written(cell.text, lines.back().empty()));
  }
  return lines;
}

/// The text with `escape` before each of `letters`.
std::string escaped(const std::string& text, std::string_view letters, char escape) {
  std::string result;
  for (const char it : text) {
    if (letters.find(it) != letters.npos) result += escape;
    result += it;
  }
  return result;
}

/// A value as a field of comma-separated values. A text that a spreadsheet would compute gets an apostrophe,
/// if it is not to stay as it is.
std::string csv_field(const Json& value, bool is_verbatim = false) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string text = replace_invalid_utf8(value.get<std::string>());
  const bool is_formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string::npos;
  if (is_formula && !is_verbatim && !parse_number(text)) text.insert(0, "'");
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return "\"" + escaped(text, "\"", '"') + "\"";
}

/// A text as one of Markdown, in a cell of a table. Code has no escapes, but for bars of tables.
std::string markdown_text(const std::string& text, bool is_code) {
  const std::string line = printable(text);
  if (is_code && line.find_first_of("\\`") == std::string::npos) return "`" + escaped(line, "|", '\\') + "`";
  return escaped(line, "\\`*<|", '\\');
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
    const bool is_common = table.rows.size() > 1 && std::ranges::all_of(table.rows, [&](const auto& row) {
                             return row[i].text == table.rows.front()[i].text;
                           });
    if (is_common) {
      common.push_back(fmt::format("{}: {}", table.columns[i].name, printable(table.rows.front()[i].text)));
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

std::string text_of(const TextTable& table) {
  constexpr int elsewhere = 120;
  return text_of(table, is_terminal(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : elsewhere);
}

std::string markdown_of(const TextTable& table) {
  const auto lines = texts_of(table, markdown_text);
  std::string markdown = fmt::format("| {} |\n|", fmt::join(lines[0], " | "));
  for (const TextColumn& it : table.columns) markdown += it.is_text ? "---|" : "---:|";
  for (std::size_t i = 1; i < lines.size(); ++i)
    markdown += fmt::format("\n| {} |", fmt::join(lines[i], " | "));
  return markdown + '\n';
}

std::string latex_of(const TextTable& table) {
  const auto lines = texts_of(table, [](const std::string& text, bool) {
    std::string latex;
    for (const char it : printable(text)) {
      const std::string_view letter(&it, 1);
      latex += it == '\\'               ? "\\textbackslash{}"
               : it == '<'              ? "\\textless{}"
               : it == '>'              ? "\\textgreater{}"
               : it == '|'              ? "\\textbar{}"
               : it == '~' || it == '^' ? fmt::format("\\{}{{}}", letter)
                                        : escaped(std::string(letter), "&%$#_{}", '\\');
    }
    return latex;
  });
  std::string latex = "\\begin{tabular}{";
  for (const TextColumn& it : table.columns) latex += it.is_text ? 'l' : 'r';
  latex += "}\n";
  for (const auto& line : lines) {
    latex += fmt::format("{} \\\\\n", fmt::join(line, " & "));
    if (&line == lines.data()) latex += "\\hline\n";
  }
  return latex + "\\end{tabular}\n";
}

std::string html_of(const TextTable& table) {
  std::string html = "<table>\n";
  for (const std::vector<std::string>&line :
       texts_of(table, [](const std::string&text, bool) { return svg_escaped(text); }))
    html += fmt::format("<tr><td>{}</td></tr>\n", fmt::join(line, "</td><td>"));
  return html + "</table>\n";
}

/// The rows, each an object.
static Json json_of(const TextTable& table) {
  const auto value_of = [](const TableCell& cell, const TextColumn& column) -> Json {
    if (cell.text == dash && !column.is_verbatim) return nullptr;
    if (cell.number && cell.number->n > 1)
      return {{"mean", cell.number->value}, {"deviation", cell.number->deviation}, {"n", cell.number->n}};
    if (cell.number) return cell.number->value;
    return column.is_text || !Json::accept(cell.text) ? Json(cell.text) : Json::parse(cell.text);
  };
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json& object = rows.emplace_back(Json::object());
    for (std::size_t i = 0; i < row.size(); ++i)
      object[table.columns[i].name] = value_of(row[i], table.columns[i]);
  }
  return rows;
}

std::string json_text_of(const TextTable& table) { return json_text({{"rows", json_of(table)}}); }

std::string csv_of(const TextTable& table) {
  const Json rows = json_of(table);
  std::vector<std::vector<std::string>> lines(rows.size() + 1);
  const auto add = [&](const std::string& name, bool is_verbatim, auto value_of) {
    lines[0].push_back(csv_field(name));
    for (std::size_t i = 0; i < rows.size(); ++i)
      lines[i + 1].push_back(csv_field(value_of(rows[i]), is_verbatim));
  };
  for (const TextColumn& column : table.columns) {
    const std::string& name = column.name;
    const bool has_means =
        std::ranges::any_of(rows, [&](const Json& row) { return row.at(name).is_object(); });
    add(name, column.is_verbatim,
        [&](const Json& row) { return row.at(name).is_object() ? row.at(name).at("mean") : row.at(name); });
    if (!has_means) continue;
    for (const char* part : {"deviation", "n"})
      add(name + " " + part, false,
          [&](const Json& row) { return row.at(name).is_object() ? row.at(name).at(part) : Json(); });
  }
  std::string csv;
  for (const std::vector<std::string>& line : lines) csv += fmt::format("{}\n", fmt::join(line, ","));
  return csv;
}

}  // namespace rondo
