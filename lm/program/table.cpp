// `lm table`: see table.h. First a run folder becomes a MeasuredRun (lm/program/measured_runs.h), then all
// rows become text, Markdown or JSON.
#include "lm/program/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "lm/program/command_line.h"
#include "lm/program/measured_runs.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/published.h"
#include "tensor/error.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

/// A score of the task, by its key.
Value score_of(const std::string& key) {
  return [key](const Measured& it) {
    const auto score = it.scores.find(key);
    return score == it.scores.end() ? std::nullopt : std::optional(score->second);
  };
}

// ---- JSON.

std::string key_of(const MeasurementKind& kind) {
  std::string key = kind.name;
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

Json json_of(const std::optional<Measured>& it) {
  Json json{
      {"nats", nullptr}, {"bits", nullptr}, {"perplexity", nullptr}, {"symbols", nullptr}, {"read", nullptr}};
  if (!it) return json;
  json = {{"nats", it->nats},
          {"bits", it->bits},
          {"perplexity", it->perplexity},
          {"symbols", it->symbols},
          {"read", it->read}};
  for (const auto& [name, value] : it->scores) json[name] = value;
  if (!it->settings.empty()) json.update(Json::parse(it->settings));
  return json;
}

Json json_of(const MeasuredRun& row) {
  const Recipe& recipe = row.recipe();
  Json json{{"run", row.run},
            {"recipe", recipe.name},
            {"paper", recipe.paper},
            {"unit", name_of(tokenization_of(recipe).unit)},
            {"seed", recipe.trainer.seed},
            {"finetuned", row.is_finetuned()},
            {"vocabulary_size", row.vocabulary_size},
            {"parameters", row.parameters},
            {"published", published_json(recipe.published)}};
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) {
    const std::string key = key_of(kinds_of_measurement[k]);
    json[key] = json_of(row.measured[k]);
    const double figure = row.published(kinds_of_measurement[k], row.measured[k]);
    if (figure > 0) json[key]["published"] = figure;
  }
  json["finished"] = row.finished;
  json["epochs"] = row.epochs;
  json["epochs_planned"] = recipe.trainer.epochs;
  json["training_seconds"] = row.training_seconds ? Json(*row.training_seconds) : Json();
  return json;
}

/// A group of runs: what they have in common, and means.
Json json_of(const MeasuredRuns& line) {
  Json json{{"recipe", line.front().recipe().name}, {"runs", Json::array()}, {"seeds", Json::array()}};
  for (const MeasuredRun& row : line) {
    json["runs"].push_back(row.run);
    json["seeds"].push_back(row.recipe().trainer.seed);
  }
  const auto add = [&](std::size_t k, const std::string& name, const Value& value) {
    if (const auto it = mean_of(line, k, value); it && it->n > 0)
      json[key_of(kinds_of_measurement[k])][name] = {
          {"mean", it->mean}, {"deviation", it->deviation}, {"n", it->n}};
  };
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) {
    add(k, "nats", &Measured::nats);
    add(k, "bits", &Measured::bits);
    add(k, "perplexity", &Measured::perplexity);
    for (const auto& [key, name] : task_scores) add(k, key, score_of(key));
  }
  return json;
}

// ---- Text and Markdown.

/// Prints on stderr why a run's row has no published figures.
void say_what_is_left_out(const MeasuredRuns& rows) {
  for (const MeasuredRun& row : rows) {
    const PublishedFigures& published = row.recipe().published;
    if (published_text(published).empty()) continue;
    if (!is_published_model(row.recipe()))
      fmt::print(stderr,
                 "lm: {}: published figures are left out: settings of the model are not those of the recipe "
                 "{}\n",
                 row.run, row.recipe().name);
    else if (!row.is_of_the_papers_text())
      fmt::print(stderr,
                 "lm: {}: published figures are left out: they are of another text (published.vocabulary = "
                 "{}, here {}; published.test_symbols = {}, here {}; 0: not known)\n",
                 row.run, published.vocabulary, row.types, published.test_symbols,
                 row.measured[test_kind] ? row.measured[test_kind]->symbols : 0);
  }
}

/// Stands for a missing figure.
const std::string dash = "-";

/// The recipe's name; for a single run also the folder's name, if it differs.
std::string title_of(const MeasuredRuns& line) {
  const MeasuredRun& row = line.front();
  const std::string recipe = row.recipe().name + (row.is_finetuned() ? ", finetuned" : "");
  if (line.size() > 1) return recipe;
  const std::filesystem::path path = std::filesystem::absolute(row.run).lexically_normal() / "";
  const std::string folder = path.parent_path().filename().string();
  return folder == recipe ? folder : fmt::format("{} ({})", recipe, folder);
}

std::string epochs_of(const MeasuredRun& row) {
  std::string text = fmt::format("{}", row.epochs);
  if (row.epochs != row.recipe().trainer.epochs) text += fmt::format(" of {}", row.recipe().trainer.epochs);
  return row.finished ? text : text + ", unfinished";
}

/// The texts of a group's runs, once if they are the same.
template <class Text>
std::string joined(const MeasuredRuns& line, Text text) {
  std::vector<std::string> texts;
  for (const MeasuredRun& row : line)
    if (const std::string it = text(row); std::find(texts.begin(), texts.end(), it) == texts.end())
      texts.push_back(it);
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// The figure of one run, or the mean of several and their standard deviation; then the number of runs that
/// have it, if not all have.
std::string figure_of(const MeasuredRuns& line, std::size_t kind, const Value& value, int digits) {
  const std::optional<Mean> it = mean_of(line, kind, value);
  if (!it) return "several settings";
  if (it->n == 0) return dash;
  std::string text = fmt::format("{:.{}f}", it->mean, digits);
  if (it->n > 1) text += fmt::format(" ± {:.{}f}", it->deviation, digits);
  return it->n == line.size() ? text : fmt::format("{} ({})", text, it->n);
}

struct Column {
  std::string name;
  bool is_text = false;            // aligned left; numbers are aligned right
  std::vector<std::string> cells;  // one per row
};

bool is_empty(const Column& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [](const std::string& cell) { return cell == dash; });
}

/// Perplexity is shown for words, bits for characters and bytes; if a paper uses another unit, that one is
/// shown, too.
bool shows(const MeasuredRun& row, PublishedUnit unit) {
  const bool words = tokenization_of(row.recipe()).unit == Unit::words;
  const PublishedFigures& published = row.recipe().published;
  const auto has = [](const PublishedFigures::Splits& it) { return it.valid > 0 || it.test > 0; };
  return words == (unit == PublishedUnit::perplexity) || (has(published.trained) && published.unit == unit);
}

/// Adds the columns of one kind. Nats, symbols and the reading are shown only for models that do not adapt;
/// JSON has them for all. A mean is only over figures with the same settings.
void add_figures(std::vector<Column>& columns, const std::vector<MeasuredRuns>& lines, std::size_t k) {
  const MeasurementKind& kind = kinds_of_measurement[k];
  Column paper{kind.name + " published", false, {}}, nats{kind.name + " nats", false, {}},
      bits{kind.name + " bits", false, {}}, perplexity{kind.name + " perplexity", false, {}},
      symbols{kind.name + " symbols", false, {}}, read{kind.name + " read in", true, {}};
  std::vector<Column> scores;
  for (const auto& [key, score] : task_scores) scores.push_back({kind.name + " " + score, false, {}});
  for (const MeasuredRuns& line : lines) {
    const MeasuredRun& first = line.front();
    const double figure = first.published(kind, first.measured[k]);
    paper.cells.push_back(figure > 0 ? fmt::format("{} {}", figure, name_of(first.recipe().published.unit))
                                     : dash);
    const auto add = [&](Column& column, const Value& value, int digits, bool shown) {
      column.cells.push_back(shown ? figure_of(line, k, value, digits) : dash);
    };
    add(nats, &Measured::nats, 4, true);
    add(bits, &Measured::bits, 4, shows(first, PublishedUnit::bits));
    add(perplexity, &Measured::perplexity, 2, shows(first, PublishedUnit::perplexity));
    for (std::size_t i = 0; i < scores.size(); ++i) add(scores[i], score_of(task_scores[i].first), 2, true);
    const auto of_each = [&](const auto& text) {
      return joined(line,
                    [&](const MeasuredRun& row) { return row.measured[k] ? text(*row.measured[k]) : dash; });
    };
    symbols.cells.push_back(
        of_each([](const Measured& it) { return it.symbols > 0 ? fmt::format("{}", it.symbols) : dash; }));
    read.cells.push_back(of_each([](const Measured& it) { return it.read; }));
  }
  if (!kind.is_plain() && is_empty(nats)) return;
  if (!is_empty(paper)) columns.push_back(paper);
  for (const Column& score : scores)
    if (!is_empty(score)) columns.push_back(score);
  if (kind.is_plain()) columns.push_back(nats);
  if (!is_empty(bits)) columns.push_back(bits);
  if (!is_empty(perplexity)) columns.push_back(perplexity);
  if (kind.is_plain()) columns.push_back(symbols);
  if (kind.is_plain() && !is_empty(read)) columns.push_back(read);
}

std::vector<Column> columns_of(const MeasuredRuns& rows) {
  const std::vector<MeasuredRuns> lines = lines_of(rows);
  Column name{"recipe", true, {}}, runs{"runs", false, {}}, parameters{"parameters", false, {}},
      epochs{"epochs", true, {}}, time{"training time", false, {}};
  for (const MeasuredRuns& line : lines) {
    name.cells.push_back(title_of(line));
    runs.cells.push_back(fmt::format("{}", line.size()));
    parameters.cells.push_back(fmt::format("{}", line.front().parameters));
    epochs.cells.push_back(joined(line, epochs_of));
    time.cells.push_back(joined(line, [](const MeasuredRun& row) {
      return row.training_seconds ? duration_text(*row.training_seconds) : dash;
    }));
  }
  std::vector<Column> columns{name};
  if (lines.size() < rows.size()) columns.push_back(runs);
  columns.push_back(parameters);
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) add_figures(columns, lines, k);
  columns.push_back(epochs);
  columns.push_back(time);
  return columns;
}

/// The header has two lines: in one line it would be wider than the numbers.
std::string text_table(const std::vector<Column>& columns) {
  const std::size_t rows = columns.front().cells.size();
  std::vector<std::string> lines(rows + 2);
  for (const Column& column : columns) {
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

std::string markdown_table(const std::vector<Column>& columns) {
  std::vector<std::string> lines(columns.front().cells.size() + 2, "|");
  for (const Column& column : columns) {
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

}  // namespace

int table(const TableOptions& options) {
  std::vector<MeasuredRun> rows;
  int status = 0;
  for (const std::string& run : options.runs) {
    try {
      rows.push_back(measured_run(run));
    } catch (const InputError&) {  // only this row is left out
      const Failure failure = current_failure();
      fmt::print(stderr, "{}\n", failure.line);
      status = failure.exit_status;
    }
  }
  if (rows.empty()) return status;
  if (options.json) {
    Json list = Json::array();
    for (const MeasuredRun& row : rows) list.push_back(json_of(row));
    Json groups = Json::array();
    for (const MeasuredRuns& line : lines_of(rows)) groups.push_back(json_of(line));
    print_json(Json{{"runs", list}, {"groups", groups}});
  } else {
    fmt::print("{}", options.markdown ? markdown_table(columns_of(rows)) : text_table(columns_of(rows)));
    say_what_is_left_out(rows);
  }
  return status;
}

}  // namespace rondo
