// `lm table`: see table.h. First a run folder becomes a MeasuredRun (lm/program/measured_runs.h), then all
// rows become text, Markdown or JSON.
#include "lm/program/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "lm/program/command_line.h"
#include "lm/program/compared_settings.h"
#include "lm/program/measured_runs.h"
#include "lm/program/nearest.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/published.h"
#include "lm/program/sweep_grid.h"
#include "lm/program/text_table.h"
#include "tensor/error.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

// ---- JSON.

std::string key_of(const MeasurementKind& kind) {
  std::string key = kind.name;
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

Json if_any(const std::optional<double>& figure) { return figure ? Json(*figure) : Json(); }

Json json_of(const std::optional<Measured>& it) {
  Json json{
      {"nats", nullptr}, {"bits", nullptr}, {"perplexity", nullptr}, {"symbols", nullptr}, {"read", nullptr}};
  if (!it) return json;
  json = {{"nats", it->nats},
          {"bits", if_any(it->bits)},
          {"perplexity", if_any(it->perplexity)},
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
            {"cell", cell_of(recipe)},
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
  for (const SentenceSetFigures& it : row.sentences) json["sentences"].push_back(json_of(it));
  json["finished"] = row.finished;
  if (row.has_unevaluated_model) json["model"] = "not evaluated";
  json["epochs"] = row.epochs;
  json["epochs_planned"] = recipe.trainer.steps > 0 ? Json() : Json(recipe.trainer.epochs);
  json["training_seconds"] = if_any(row.training_seconds);
  return json;
}

/// A group of runs: what they have in common, and means.
Json json_of(const MeasuredRuns& line, const std::vector<std::string>& keys) {
  const Recipe& recipe = line.front().recipe();
  Json json{{"recipe", recipe.name},
            {"settings", Json::object()},
            {"runs", Json::array()},
            {"seeds", Json::array()}};
  const std::vector<std::string> values = values_of(recipe, keys);
  for (std::size_t i = 0; i < keys.size(); ++i) json["settings"][keys[i]] = values[i];
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
  const TrainerOptions& planned = row.recipe().trainer;
  std::string text = fmt::format("{}", row.epochs);
  if (planned.steps > 0)
    text += fmt::format(" ({} steps)", planned.steps);
  else if (row.epochs != planned.epochs)
    text += fmt::format(" of {}", planned.epochs);
  if (row.has_unevaluated_model) text += ", model not evaluated";
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
void add_figures(TextTable& columns, const std::vector<MeasuredRuns>& lines, std::size_t k) {
  const MeasurementKind& kind = kinds_of_measurement[k];
  TextColumn paper{kind.name + " published", false, {}}, nats{kind.name + " nats", false, {}},
      bits{kind.name + " bits", false, {}}, perplexity{kind.name + " perplexity", false, {}},
      symbols{kind.name + " symbols", false, {}}, read{kind.name + " read in", true, {}};
  TextTable scores;
  for (const auto& [key, score] : task_scores) scores.push_back({kind.name + " " + score, false, {}});
  for (const MeasuredRuns& line : lines) {
    const MeasuredRun& first = line.front();
    const double figure = first.published(kind, first.measured[k]);
    paper.cells.push_back(figure > 0 ? fmt::format("{} {}", figure, name_of(first.recipe().published.unit))
                                     : dash);
    const auto add = [&](TextColumn& column, const Value& value, int digits, bool shown) {
      column.cells.push_back(shown ? mean_text(line, k, value, digits) : dash);
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
  const bool is_measured = std::any_of(lines.begin(), lines.end(), [&](const MeasuredRuns& line) {
    return std::any_of(line.begin(), line.end(),
                       [&](const MeasuredRun& row) { return row.measured[k].has_value(); });
  });
  if ((!kind.is_plain() || kind.split == "speakers") && !is_measured) return;
  if (!is_empty(paper)) columns.push_back(paper);
  for (const TextColumn& score : scores)
    if (!is_empty(score)) columns.push_back(score);
  if (kind.is_plain()) columns.push_back(nats);
  if (!is_empty(bits)) columns.push_back(bits);
  if (!is_empty(perplexity)) columns.push_back(perplexity);
  if (kind.is_plain() && (!is_empty(symbols) || is_empty(nats))) columns.push_back(symbols);
  if (kind.is_plain() && !is_empty(read)) columns.push_back(read);
}

/// The names of the figures of vectors of sentences, by their keys, and their digits.
struct FigureName {
  const char *key, *name;
  int digits;
};
constexpr FigureName sentence_figures[] = {{"pearson", "r", 4},
                                           {"spearman", "rho", 4},
                                           {"mse", "MSE", 4},
                                           {"accuracy", "accuracy", 2},
                                           {"f1", "F1", 2}};

std::string number_text(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : dash;
}

/// A figure of a set, and in brackets that of the means of word vectors.
std::string sentence_figure(const MeasuredRun& row, const std::string& set, const FigureName& figure) {
  for (const SentenceSetFigures& it : row.sentences)
    for (std::size_t i = 0; it.set == set && i < it.vectors.size(); ++i)
      if (it.vectors[i].first == figure.key)
        return fmt::format("{} ({})", number_text(it.vectors[i].second, figure.digits),
                           number_text(it.word_means.at(i).second, figure.digits));
  return dash;
}

/// Adds a column for each figure of each set that a run was measured on, in the order of the measurements.
void add_sentence_figures(TextTable& columns, const std::vector<MeasuredRuns>& lines) {
  std::vector<std::string> sets;
  for (const MeasuredRuns& line : lines)
    for (const MeasuredRun& row : line)
      for (const SentenceSetFigures& it : row.sentences)
        if (std::find(sets.begin(), sets.end(), it.set) == sets.end()) sets.push_back(it.set);
  for (const std::string& set : sets)
    for (const FigureName& figure : sentence_figures) {
      TextColumn column{fmt::format("{} {}", set, figure.name), false, {}};
      for (const MeasuredRuns& line : lines)
        column.cells.push_back(
            joined(line, [&](const MeasuredRun& row) { return sentence_figure(row, set, figure); }));
      if (!is_empty(column)) columns.push_back(column);
    }
}

/// How runs are put into rows.
struct Rows {
  std::vector<MeasuredRuns> lines;
  std::vector<std::string> keys;  // settings that are columns
};

/// InputError if no run has such a key.
Rows rows_of(const MeasuredRuns& runs, const std::vector<std::string>& group_by) {
  for (const std::string& name : group_by) {
    std::vector<std::string> known;
    for (const MeasuredRun& run : runs) {
      Recipe recipe = run.recipe();
      for (const Key& key : keys_of(recipe)) known.push_back(key.name);
    }
    check_input(std::find(known.begin(), known.end(), name) != known.end(), "--group-by {}: no such key{}",
                name, did_you_mean(name, known, "; `lm info --keys` lists them"));
  }
  if (!group_by.empty()) return {groups_of(runs, group_by), group_by};
  Rows rows{lines_of(runs), {}};
  // Between recipes, and between a training and a finetuning, nearly everything differs, and their names say
  // it; the column of epochs says how long they were to be.
  std::map<std::pair<std::string, bool>, MeasuredRuns> comparable;
  for (const MeasuredRun& run : runs) comparable[{run.recipe().name, run.is_finetuned()}].push_back(run);
  const auto is_shown = [&](const std::string& key) {
    return !key.starts_with("published.") && key != "train.epochs" && key != "train.steps" &&
           std::find(rows.keys.begin(), rows.keys.end(), key) == rows.keys.end();
  };
  for (const auto& [name, group] : comparable)
    for (const std::string& key : differing_keys(group))
      if (is_shown(key)) rows.keys.push_back(key);
  return rows;
}

}  // namespace

TextTable table_of(const MeasuredRuns& rows, const std::vector<std::string>& group_by) {
  const auto [lines, keys] = rows_of(rows, group_by);
  TextTable settings;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    settings.push_back({shown_name(keys[i], keys), false, {}});
    TextColumn& column = settings.back();
    for (const MeasuredRuns& line : lines) {
      const std::string value = values_of(line.front().recipe(), keys)[i];
      column.cells.push_back(value);
      column.is_text |= value != dash && !number_of(value);
    }
  }
  TextColumn name{"recipe", true, {}}, runs{"runs", false, {}}, parameters{"parameters", false, {}},
      epochs{"epochs", true, {}}, time{"training time", false, {}};
  for (const MeasuredRuns& line : lines) {
    name.cells.push_back(title_of(line));
    runs.cells.push_back(fmt::format("{}", line.size()));
    parameters.cells.push_back(
        joined(line, [](const MeasuredRun& row) { return fmt::format("{}", row.parameters); }));
    epochs.cells.push_back(joined(line, epochs_of));
    time.cells.push_back(joined(line, [](const MeasuredRun& row) {
      return row.training_seconds ? duration_text(*row.training_seconds) : dash;
    }));
  }
  TextTable columns{name};
  columns.insert(columns.end(), settings.begin(), settings.end());
  if (lines.size() < rows.size()) columns.push_back(runs);
  columns.push_back(parameters);
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) add_figures(columns, lines, k);
  add_sentence_figures(columns, lines);
  columns.push_back(epochs);
  columns.push_back(time);
  return columns;
}

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

std::pair<MeasuredRuns, int> readable_runs(const std::vector<std::string>& paths) {
  MeasuredRuns runs;
  int status = 0;
  for (const std::string& path : paths) try {
      runs.push_back(measured_run(path));
    } catch (const InputError&) {
      const Failure failure = current_failure();
      fmt::print(stderr, "{}\n", failure.line);
      status = failure.exit_status;
    }
  return {std::move(runs), status};
}

int table(const TableOptions& options) {
  const bool is_sweep = options.runs.size() == 1 && holds_runs(options.runs[0]);
  const bool arranges = !options.group_by.empty() || !options.sort.empty() || options.csv;
  if (is_sweep && !arranges) {
    print_sweep(
        options.runs[0],
        {.json = options.json, .markdown = options.markdown, .plot = options.plot, .drawn = options.drawn});
    return 0;
  }
  const bool draws = !options.plot.empty() || !options.drawn.over.empty() || options.drawn.band;
  check_input(!draws || is_sweep, "table: --plot, --over and --band are for the folder of one sweep");
  check_input(
      !draws,
      "table: --plot, --over and --band draw a sweep as it is: leave out --group-by, --sort and --csv");
  check_input(options.sort.empty() || !options.json,
              "table: --sort orders the rows of a table: leave it out with --json");
  std::vector<std::string> runs = options.runs;
  if (is_sweep) {
    runs.clear();
    for (const std::filesystem::path& run : runs_in(options.runs[0])) runs.push_back(run.string());
  }
  const auto& [rows, status] = readable_runs(runs);
  if (rows.empty()) return status;
  if (options.json) {
    Json list = Json::array();
    for (const MeasuredRun& row : rows) list.push_back(json_of(row));
    Json groups = Json::array();
    const auto [lines, keys] = rows_of(rows, options.group_by);
    for (const MeasuredRuns& line : lines) groups.push_back(json_of(line, keys));
    print_json(Json{{"runs", list}, {"groups", groups}});
  } else {
    TextTable columns = table_of(rows, options.group_by);
    if (!options.sort.empty()) sort_rows(columns, options.sort);
    fmt::print("{}", options.csv        ? csv_of(columns)
                     : options.markdown ? markdown_of(columns)
                                        : text_of(columns));
    say_what_is_left_out(rows);
  }
  return status;
}

}  // namespace rondo
