// `lm table`: see table.h. First a run folder becomes a MeasuredRun (lm/program/measured_runs.h), then all
// rows become text, Markdown or JSON.
#include "lm/program/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "lm/program/command_line.h"
#include "lm/program/compared_settings.h"
#include "lm/program/measured_runs.h"
#include "lm/program/nearest.h"
#include "lm/program/output.h"
#include "lm/program/paths.h"
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
  Json json{
      {"run", row.run},
      {"recipe", recipe.name},
      {"paper", recipe.paper},
      {"unit", name_of(tokenization_of(recipe).unit)},
      {"cell", cell_of(recipe)},
      {"seed", recipe.trainer.seed},
      {"text", row.config.made_by.sha256.empty() ? Json() : Json(short_name_of_text(row.config.made_by))},
      {"finetuned", row.is_finetuned()},
      {"imported", row.is_imported()},
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
  const std::string folder = last_name(row.run);
  return folder == recipe ? folder : fmt::format("{} ({})", recipe, folder);
}

std::string epochs_of(const MeasuredRun& row) {
  const TrainerOptions& planned = row.recipe().trainer;
  if (row.epochs == 0) return dash;  // imported, or not evaluated yet
  if (planned.steps > 0) return fmt::format("{} ({} steps)", row.epochs, planned.steps);
  return row.epochs == planned.epochs ? fmt::format("{}", row.epochs)
                                      : fmt::format("{} of {}", row.epochs, planned.epochs);
}

std::string state_of(const MeasuredRun& row) {
  return row.is_imported()           ? "imported"
         : row.has_unevaluated_model ? "unfinished, model not evaluated"
         : row.finished              ? "finished"
                                     : "unfinished";
}

/// A name of the run's text; a dash if it has none.
std::string text_name_of(const MeasuredRun& row) {
  const std::string name = short_name_of_text(row.config.made_by);
  return name.empty() ? dash : name;
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

/// A column of figures, of groups of runs: as shown, and the means as numbers.
class FigureColumn {
 public:
  explicit FigureColumn(const std::string& name) : column_{name, false, {}} {}

  /// A group's cell; none: there is no mean.
  void add(const std::string& shown, const std::optional<Mean>& mean) {
    column_.cells.push_back(shown);
    means_.push_back(mean.value_or(Mean()));
  }
  /// The same of what `number` gives for each run that has it.
  void add(const std::string& shown, const MeasuredRuns& line,
           const std::function<std::optional<double>(const MeasuredRun&)>& number) {
    std::vector<double> numbers;
    for (const MeasuredRun& row : line)
      if (const std::optional<double> it = number(row); it && std::isfinite(*it)) numbers.push_back(*it);
    add(shown, mean_of(numbers));
  }

  /// In CSV, if the runs of a group differ, with their deviation and their number. `name`: there, another.
  TextColumn column(const std::string& name = "") const {
    const std::string& csv_name = name.empty() ? column_.name : name;
    TextColumn mean{csv_name, false, {}}, deviation{csv_name + " deviation", false, {}},
        n{csv_name + " n", false, {}};
    for (const Mean& it : means_) {
      mean.cells.push_back(it.n > 0 ? fmt::format("{}", it.mean) : dash);
      deviation.cells.push_back(it.n > 1 ? fmt::format("{}", it.deviation) : dash);
      n.cells.push_back(fmt::format("{}", it.n));
    }
    TextColumn column = column_;
    column.in_csv = {mean};
    const auto varies = [](const Mean& it) { return it.deviation > 0; };
    if (std::any_of(means_.begin(), means_.end(), varies))
      column.in_csv.insert(column.in_csv.end(), {deviation, n});
    return column;
  }
  bool is_empty() const { return rondo::is_empty(column_); }

 private:
  TextColumn column_;
  std::vector<Mean> means_;
};

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
  TextColumn paper{kind.name + " published", false, {}},
      figures = paper, units{paper.name + " unit", true, {}}, read{kind.name + " read in", true, {}};
  FigureColumn nats(kind.name + " nats"), bits(kind.name + " bits"), perplexity(kind.name + " perplexity"),
      symbols(kind.name + " symbols");
  std::vector<FigureColumn> scores;
  for (const auto& [key, score] : task_scores) scores.emplace_back(kind.name + " " + score);
  for (const MeasuredRuns& line : lines) {
    const MeasuredRun& first = line.front();
    const double figure = first.published(kind, first.measured[k]);
    figures.cells.push_back(figure > 0 ? fmt::format("{}", figure) : dash);
    units.cells.push_back(figure > 0 ? name_of(first.recipe().published.unit) : dash);
    paper.cells.push_back(figure > 0 ? fmt::format("{} {}", figure, units.cells.back()) : dash);
    const auto add = [&](FigureColumn& column, const Value& value, int digits, bool shown) {
      if (shown)
        column.add(mean_text(line, k, value, digits), mean_of(line, k, value));
      else
        column.add(dash, std::nullopt);
    };
    add(nats, &Measured::nats, 4, true);
    add(bits, &Measured::bits, 4, shows(first, PublishedUnit::bits));
    add(perplexity, &Measured::perplexity, 2, shows(first, PublishedUnit::perplexity));
    for (std::size_t i = 0; i < scores.size(); ++i) add(scores[i], score_of(task_scores[i].first), 2, true);
    const auto of_each = [&](const auto& text) {
      return joined(line,
                    [&](const MeasuredRun& row) { return row.measured[k] ? text(*row.measured[k]) : dash; });
    };
    symbols.add(
        of_each([](const Measured& it) { return it.symbols > 0 ? fmt::format("{}", it.symbols) : dash; }),
        line, [&](const MeasuredRun& row) {
          const std::optional<Measured>& it = row.measured[k];
          return it && it->symbols > 0 ? std::optional(static_cast<double>(it->symbols)) : std::nullopt;
        });
    read.cells.push_back(of_each([](const Measured& it) { return it.read; }));
  }
  const bool is_measured = std::any_of(lines.begin(), lines.end(), [&](const MeasuredRuns& line) {
    return std::any_of(line.begin(), line.end(),
                       [&](const MeasuredRun& row) { return row.measured[k].has_value(); });
  });
  if ((!kind.is_plain() || kind.split == "speakers") && !is_measured) return;
  paper.in_csv = {figures, units};
  if (!is_empty(paper)) columns.push_back(paper);
  for (const FigureColumn& score : scores)
    if (!score.is_empty()) columns.push_back(score.column());
  if (kind.is_plain()) columns.push_back(nats.column());
  if (!bits.is_empty()) columns.push_back(bits.column());
  if (!perplexity.is_empty()) columns.push_back(perplexity.column());
  if (kind.is_plain() && (!symbols.is_empty() || nats.is_empty())) columns.push_back(symbols.column());
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

/// A figure of a set, and that of the means of word vectors.
std::optional<std::pair<double, double>> sentence_figure(const MeasuredRun& row, const std::string& set,
                                                         const FigureName& figure) {
  for (const SentenceSetFigures& it : row.sentences)
    for (std::size_t i = 0; it.set == set && i < it.vectors.size(); ++i)
      if (it.vectors[i].first == figure.key) return {{it.vectors[i].second, it.word_means.at(i).second}};
  return std::nullopt;
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
      FigureColumn vectors(fmt::format("{} {}", set, figure.name)), word_means = vectors;
      for (const MeasuredRuns& line : lines) {
        const std::string shown = joined(line, [&](const MeasuredRun& row) {
          const auto it = sentence_figure(row, set, figure);
          return it ? fmt::format("{} ({})", number_text(it->first, figure.digits),
                                  number_text(it->second, figure.digits))
                    : dash;
        });
        const auto number = [&](auto member) {
          return [&, member](const MeasuredRun& row) {
            const auto it = sentence_figure(row, set, figure);
            return it ? std::optional((*it).*member) : std::nullopt;
          };
        };
        vectors.add(shown, line, number(&std::pair<double, double>::first));
        word_means.add(shown, line, number(&std::pair<double, double>::second));
      }
      if (vectors.is_empty()) continue;
      columns.push_back(vectors.column());
      const TextColumn of_words = word_means.column(fmt::format("{} {} of word means", set, figure.name));
      columns.back().in_csv.insert(columns.back().in_csv.end(), of_words.in_csv.begin(),
                                   of_words.in_csv.end());
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
  TextColumn name{"recipe", true, {}}, text{"text", true, {}}, runs{"runs", false, {}},
      state{"state", true, {}};
  FigureColumn parameters("parameters"), epochs("epochs"), planned("epochs planned"), time("training time");
  TextTable settings;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string shown = shown_name(keys[i], keys);
    settings.push_back({shown == "epochs" ? keys[i] : shown, false, {}});  // the table has epochs of its own
    TextColumn& column = settings.back();
    for (const MeasuredRuns& line : lines) {
      const std::string value = values_of(line.front().recipe(), keys)[i];
      column.cells.push_back(value);
      column.is_text |= value != dash && !number_of(value);
    }
  }
  const auto any = [](bool there, auto number) {
    return there ? std::optional(static_cast<double>(number)) : std::nullopt;
  };
  std::set<std::vector<std::string>> texts;
  for (const MeasuredRuns& line : lines) {
    name.cells.push_back(title_of(line));
    text.cells.push_back(joined(line, text_name_of));
    for (const MeasuredRun& row : line)
      if (const auto& sha256 = row.config.made_by.sha256; !sha256.empty()) texts.insert(digests_of(sha256));
    runs.cells.push_back(fmt::format("{}", line.size()));
    parameters.add(joined(line, [](const MeasuredRun& row) { return fmt::format("{}", row.parameters); }),
                   line, [&](const MeasuredRun& row) { return any(true, row.parameters); });
    const std::string read = joined(line, epochs_of);
    epochs.add(read, line, [&](const MeasuredRun& row) { return any(row.epochs > 0, row.epochs); });
    planned.add(read, line, [&](const MeasuredRun& row) {
      const TrainerOptions& options = row.recipe().trainer;
      return any(options.steps == 0 && !row.is_imported(), options.epochs);
    });
    state.cells.push_back(joined(line, state_of));
    time.add(joined(line,
                    [](const MeasuredRun& row) {
                      return row.training_seconds ? duration_text(*row.training_seconds) : dash;
                    }),
             line, [](const MeasuredRun& row) { return row.training_seconds; });
  }
  TextTable columns{name};
  if (texts.size() > 1) columns.push_back(text);
  columns.insert(columns.end(), settings.begin(), settings.end());
  if (lines.size() < rows.size()) columns.push_back(runs);
  columns.push_back(parameters.column());
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) add_figures(columns, lines, k);
  add_sentence_figures(columns, lines);
  columns.push_back(epochs.column());
  columns.back().is_text = true;
  columns.back().in_csv.push_back(planned.column().in_csv.front());
  const bool are_all_finished = std::all_of(
      rows.begin(), rows.end(), [](const MeasuredRun& row) { return state_of(row) == "finished"; });
  if (!are_all_finished) columns.push_back(state);
  columns.push_back(time.column("training seconds"));
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
  const auto& [rows, status] = readable_runs(runs_among(options.runs));
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
