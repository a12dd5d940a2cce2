// The table of `lm table`.
#include "lm/report/run_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/program/terminal.h"
#include "tensor/error.h"

namespace rondo {

namespace {

/// How runs are put into rows.
struct Rows {
  std::vector<Runs> groups;
  std::vector<std::string> keys;  // settings that are columns
};

Rows rows_of(const Runs& runs, const std::vector<std::string>& group_by) {
  std::vector<std::string> known;
  for (const auto& run : runs) {
    Recipe recipe = run->recipe();
    for (const Key& key : keys_of(recipe)) known.push_back(key.name);
  }
  for (const std::string& name : group_by)
    check_input(std::find(known.begin(), known.end(), name) != known.end(), "--group-by {}: no such key{}",
                name,
                did_you_mean(name, known, fmt::format("; `{} info --keys` lists them", this_program())));
  if (!group_by.empty()) return {group_by_keys(runs, group_by), group_by};
  Rows rows{group_by_settings(runs), {}};
  // Between recipes, and between a training and a finetuning, nearly everything differs, and their names say
  // it; the column of epochs says how long they were to be.
  std::map<std::pair<std::string, bool>, Runs> comparable;
  for (const auto& run : runs) comparable[{run->recipe().name, run->is_finetuned()}].push_back(run);
  const auto is_shown = [&](const std::string& key) {
    return !key.starts_with("published.") && key != "train.epochs" && key != "train.steps" &&
           std::find(rows.keys.begin(), rows.keys.end(), key) == rows.keys.end();
  };
  for (const auto& [name, group] : comparable)
    for (const std::string& key : differing_keys(group))
      if (is_shown(key)) rows.keys.push_back(key);
  return rows;
}

/// The recipe's name; for a single run also the folder's name, if it differs.
std::string title_of(const Runs& group) {
  const RunRecord& run = *group.front();
  const std::string& begun_with = run.config.made_by.initialized_from;
  const std::string recipe =
      run.recipe().name + (run.is_finetuned()    ? ", finetuned"
                           : !begun_with.empty() ? ", begun with " + last_name(begun_with)
                                                 : "");
  if (group.size() > 1) return recipe;
  const std::string folder = last_name(run.path);
  return folder == recipe ? folder : fmt::format("{} ({})", recipe, folder);
}

TableCell epochs_cell(const RunRecord& run) {
  const TrainerOptions& planned = run.recipe().trainer;
  const auto& [when, epoch, scores, best] = run.last_evaluation();
  if (epoch == 0) return {};  // imported, or not evaluated yet
  const bool is_whole = when.epochs == static_cast<double>(epoch);
  std::string text = is_whole ? fmt::format("{}", epoch) : fmt::format("{:.2f}", when.epochs);
  if (planned.steps > 0 && when.step > 0 && when.step < planned.steps)
    text += fmt::format(" ({} of {} steps)", when.step, planned.steps);
  else if (planned.steps > 0)
    text += fmt::format(" ({} steps)", planned.steps);
  else if (!is_whole || epoch != planned.epochs)
    text += fmt::format(" of {}", planned.epochs);
  return {text, when.epochs};
}

std::string state_of(const RunRecord& run) {
  if (run.is_imported()) return "imported";
  if (run.has_unevaluated_model) return "unfinished, not evaluated";
  if (!run.finished) return "unfinished";
  return run.keeps_base ? "finished, weights unchanged" : "finished";
}

TableCell time_cell(const RunRecord& run) {
  const double seconds = run.last_evaluation().when.seconds;
  return std::isnan(seconds) ? TableCell() : TableCell(duration_text(seconds), seconds);
}

/// Whether a row of such runs has this score. Perplexity is shown for words, bits for characters and bytes;
/// if a paper uses another unit, that one is shown, too. Bits per byte compare different kinds of symbols.
bool shows_score(const RunRecord& run, const std::string& key, bool same_symbols) {
  if (key == "bits_per_byte") return !same_symbols;
  if (key != "perplexity" && key != "bits") return true;
  const PublishedFigures& published = run.recipe().published;
  const bool is_published =
      (published.trained.valid > 0 || published.trained.test > 0) && name_of(published.unit) == key;
  return (run.recipe().task->tokenization().unit == Unit::words) == (key == "perplexity") || is_published;
}

/// Whether all runs have the same kind of symbols.
bool have_same_symbols(const Runs& runs) {
  std::set<std::tuple<Unit, std::int64_t, PieceModelKind>> kinds;
  for (const auto& run : runs) {
    const Tokenization& it = run->recipe().task->tokenization();
    const bool is_of_pieces = it.unit == Unit::pieces;
    kinds.emplace(it.unit, is_of_pieces ? it.pieces : 0, is_of_pieces ? it.pieces_model : PieceModelKind{});
  }
  return kinds.size() == 1;
}

/// A result of sentence vectors on a set, then in brackets that of the means of word vectors.
TableCell sentence_cell(const RunRecord& run, const std::string& set, const ScoreStyle& style) {
  const auto text = [&](double it) {
    return std::isfinite(it) ? fmt::format("{:.{}f}", it, style.digits) : dash;
  };
  for (const SentenceSetFigures& it : run.sentences)
    for (std::size_t i = 0; it.set == set && i < it.vectors.size(); ++i)
      if (const auto& [key, figure] = it.vectors[i]; key == style.key)
        return {fmt::format("{} ({})", text(figure), text(it.word_means.at(i).second)), figure};
  return {};
}

/// The table of `lm table` in the making.
struct RunTable {
  const Runs& runs;
  const std::vector<Runs>& groups;
  TextTable table{};

  TextColumn& add_of_groups(const std::string& name, ColumnShown shown,
                            const std::function<TableCell(const Runs&)>& cell_of) {
    TextColumn& column = table.emplace_back(TextColumn{.name = name, .shown = shown});
    for (const Runs& group : groups) column.cells.push_back(cell_of(group));
    return column;
  }
  /// Adds a column that has the cells of a group's runs, each text once, with the mean of their numbers, and
  /// their deviation if the number `varies` because it was measured.
  TextColumn& add(const std::string& name, ColumnShown shown,
                  const std::function<TableCell(const RunRecord&)>& cell_of, bool varies = false) {
    return add_of_groups(name, shown, [&](const Runs& group) {
      std::vector<std::string> texts;
      std::vector<double> numbers;
      for (const auto& run : group) {
        const TableCell cell = cell_of(*run);
        if (std::find(texts.begin(), texts.end(), cell.text) == texts.end()) texts.push_back(cell.text);
        if (cell.number && std::isfinite(cell.number->value)) numbers.push_back(cell.number->value);
      }
      TableCell joined(fmt::format("{}", fmt::join(texts, "; ")));
      if (numbers.empty()) return joined;
      joined.number = mean_of(numbers, varies ? group.size() : numbers.size());
      if (!varies) joined.number->deviation = 0;
      return joined;
    });
  }
  /// Adds a column of texts; an empty one is a dash.
  void add_texts(const std::string& name, ColumnShown shown,
                 const std::function<std::string(const RunRecord&)>& text_of) {
    const auto cell_of = [&](const RunRecord& run) {
      const std::string text = text_of(run);
      return TableCell(text.empty() ? dash : text);
    };
    add(name, shown, cell_of).is_text = true;
  }

  void add_setting(const std::string& name, const std::string& key) {
    TextColumn& column = add_of_groups(name, ColumnShown::if_it_differs, [&](const Runs& group) -> TableCell {
      return values_of(group.front()->recipe(), {key}).front();
    });
    column.is_text = std::any_of(column.cells.begin(), column.cells.end(), [](const TableCell& cell) {
      return cell.text != dash && !number_of(cell.text);
    });
  }

  /// Adds the columns of one kind of measurement. Nats, symbols and the reading are shown only for models
  /// that do not adapt; JSON has them for all.
  void add_measurements(std::size_t k) {
    const MeasurementKind& kind = kinds_of_measurement[k];
    const bool is_measured =
        std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return run->measured[k].has_value(); });
    if (!kind.is_plain() && !is_measured) return;
    const auto unit = [](const RunRecord& run) { return name_of(run.recipe().published.unit); };
    add(kind.name + " published", ColumnShown::always, [&](const RunRecord& run) -> TableCell {
      const double figure = run.published(k);
      return figure > 0 ? TableCell(fmt::format("{} {}", figure, unit(run)), figure) : TableCell();
    });
    const bool same_symbols = have_same_symbols(runs);
    bool has_others = false;  // scores beside nats and bits per byte
    for (const ScoreStyle& style : styles_of(runs)) {
      if (style.key == "nats" && !kind.is_plain()) continue;
      const TextColumn& column = add_of_groups(
          kind.name + " " + style.name, ColumnShown::always, [&](const Runs& group) -> TableCell {
            return shows_score(*group.front(), style.key, same_symbols) ? score_cell(group, k, style)
                                                                        : TableCell();
          });
      has_others |= style.key != "nats" && style.key != "bits_per_byte" && !is_empty(column);
    }
    for (TextColumn& it : table)
      if (has_others && it.name == kind.name + " nats") it.shown = ColumnShown::as_a_detail;
    if (!kind.is_plain()) return;
    add(kind.name + " symbols", ColumnShown::as_a_detail, [&](const RunRecord& run) {
      const std::optional<KeptMeasurement>& it = run.measured[k];
      return it && it->symbols > 0 ? count_cell(it->symbols) : TableCell();
    });
    add_texts(kind.name + " reading", ColumnShown::if_it_differs,
              [&](const RunRecord& run) { return run.measured[k] ? run.measured[k]->read : ""; });
  }

  /// Adds a column for each result on each set that a run was measured on, in the order of the measurements.
  void add_sentence_results() {
    std::vector<std::string> sets;
    for (const auto& run : runs)
      for (const SentenceSetFigures& it : run->sentences)
        if (std::find(sets.begin(), sets.end(), it.set) == sets.end()) sets.push_back(it.set);
    for (const std::string& set : sets)
      for (const ScoreStyle& style : score_styles())
        add(
            set + " " + style.name, ColumnShown::always,
            [&](const RunRecord& run) { return sentence_cell(run, set, style); }, true);
  }
};

}  // namespace

TextTable table_of(const Runs& runs, const std::vector<std::string>& group_by) {
  const auto [groups, keys] = rows_of(runs, group_by);
  RunTable rows{runs, groups};
  std::map<std::string, int> titles;
  for (const Runs& group : groups) ++titles[title_of(group)];
  const auto title = [&](const Runs& group) -> TableCell {
    const std::string it = title_of(group);
    if (titles[it] == 1 || group.size() > 1) return it;
    return fmt::format("{} ({})", group.front()->recipe().name, group.front()->path);
  };
  rows.add_of_groups("recipe", ColumnShown::always, title).is_text = true;
  std::set<std::vector<std::string>> texts;
  std::set<Precision> precisions;
  bool are_finished = true;
  for (const auto& run : runs) {
    if (const auto& sha256 = run->config.made_by.sha256; !sha256.empty()) texts.insert(digests_of(sha256));
    precisions.insert(run->config.made_by.precision);
    are_finished &= state_of(*run) == "finished";
  }
  if (texts.size() > 1)
    rows.add_texts("text", ColumnShown::if_it_differs,
                   [](const RunRecord& run) { return short_name_of_text(run.config.made_by); });
  if (precisions.size() > 1)
    rows.add_texts("precision", ColumnShown::always,
                   [](const RunRecord& run) { return name_of(run.config.made_by.precision); });
  for (const std::string& key : keys) {
    const std::string name = shown_name(key, keys);
    rows.add_setting(name == "epochs" ? key : name, key);  // there are other epochs
  }
  if (groups.size() < runs.size())
    rows.add_of_groups("runs", ColumnShown::if_it_differs,
                       [](const Runs& group) { return count_cell(std::ssize(group)); });
  rows.add("parameters", ColumnShown::if_it_differs,
           [](const RunRecord& run) { return count_cell(run.parameters); });
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) rows.add_measurements(k);
  rows.add_sentence_results();
  rows.add("epochs", ColumnShown::if_it_differs, epochs_cell).is_text = true;
  if (!are_finished) rows.add_texts("state", ColumnShown::if_it_differs, state_of);
  rows.add("training time", ColumnShown::always, time_cell);
  std::erase_if(rows.table, is_empty);
  return rows.table;
}

namespace {

using Json = nlohmann::ordered_json;

std::string json_key(const MeasurementKind& kind) {
  if (kind.dynamic && kind.cache) return kind.split + "_both";
  std::string key = kind.name;
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

Json json_of(const std::optional<KeptMeasurement>& it) {
  Json json{{"nats", nullptr},    {"bits", nullptr},     {"perplexity", nullptr}, {"bits_per_byte", nullptr},
            {"symbols", nullptr}, {"unknowns", nullptr}, {"read", nullptr}};
  if (!it) return json;
  json["symbols"] = it->symbols;
  if (it->unknowns) json["unknowns"] = *it->unknowns;
  json["read"] = it->read;
  for (const auto& [name, value] : it->scores) json[name] = value;
  if (!it->settings.empty()) json.update(Json::parse(it->settings));
  return json;
}

/// A value of a setting, as TOML or as shown: a number, true or false, a list or a text; null for a dash.
Json json_of_value(const std::string& value) {
  if (value == dash) return {};
  return Json::accept(value) ? Json::parse(value) : Json(value);
}

Json json_of_run(const RunRecord& run) {
  const Recipe& recipe = run.recipe();
  const Provenance& made_by = run.config.made_by;
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  const bool is_the_recipes = changed_keys(recipe, run.is_finetuned()).empty();
  Json json{{"run", run.path},
            {"recipe", recipe.name},
            {"paper", recipe.paper},
            {"unit", name_of(recipe.task->tokenization().unit)},
            {"cell", recipe.task->cell()},
            {"seed", recipe.trainer.seed},
            {"text", text_or_null(short_name_of_text(made_by))},
            {"finetuned", run.is_finetuned()},
            {"imported", run.is_imported()},
            {"begun_with", text_or_null(made_by.initialized_from)},
            {"vocabulary_size", run.vocabulary_size},
            {"parameters", run.parameters},
            {"published", published_json(is_the_recipes ? recipe.published : PublishedFigures())}};
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) {
    const std::string key = json_key(kinds_of_measurement[k]);
    json[key] = json_of(run.measured[k]);
    if (const double figure = run.published(k); figure > 0) json[key]["published"] = figure;
  }
  for (const SentenceSetFigures& it : run.sentences) json["sentences"].push_back(json_of(it));
  json["finished"] = run.finished;
  if (run.has_unevaluated_model) json["model"] = "not evaluated";
  if (run.keeps_base) json["model"] = "unchanged";  // that of the run it began with
  const LoggedEvaluation last = run.last_evaluation();
  json["steps"] = last.when.step;
  json["epochs"] = last.epoch;
  json["epochs_trained"] = last.when.epochs;
  json["epochs_planned"] = recipe.trainer.steps > 0 ? Json() : Json(recipe.trainer.epochs);
  json["training_seconds"] = last.when.seconds;
  json["settings"] = Json::object();
  Recipe settings = recipe;
  for (const Key& key : keys_of(settings)) json["settings"][key.name] = json_of_value(value_text(key));
  return json;
}

Json json_of_group(const Runs& group, const std::vector<std::string>& keys) {
  const Recipe& recipe = group.front()->recipe();
  Json json{{"recipe", recipe.name},
            {"settings", Json::object()},
            {"runs", Json::array()},
            {"seeds", Json::array()}};
  const std::vector<std::string> values = values_of(recipe, keys);
  for (std::size_t i = 0; i < keys.size(); ++i) json["settings"][keys[i]] = json_of_value(values[i]);
  for (const auto& run : group) {
    json["runs"].push_back(run->path);
    json["seeds"].push_back(run->recipe().trainer.seed);
  }
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k)
    for (const ScoreStyle& style : styles_of(group))
      if (const auto mean = mean_score(group, k, style.key); mean && mean->n > 0)
        json[json_key(kinds_of_measurement[k])][style.key] = {
            {"mean", mean->value},
            {"deviation", mean->n > 1 ? Json(mean->deviation) : Json()},  // not known of one run
            {"n", mean->n}};
  return json;
}

}  // namespace

Json json_of(const Runs& runs, const std::vector<std::string>& group_by) {
  Json list = Json::array(), groups = Json::array();
  for (const auto& run : runs) list.push_back(json_of_run(*run));
  const Rows rows = rows_of(runs, group_by);
  for (const Runs& group : rows.groups) groups.push_back(json_of_group(group, rows.keys));
  return {{"runs", list}, {"groups", groups}};
}

void print_table(const Runs& runs, const TableOptions& options) {
  if (options.json) return print_json(json_of(runs, options.group_by));
  TextTable table = table_of(runs, options.group_by);
  if (!options.sort.empty()) sort_rows(table, options.sort);
  fmt::print("{}", options.csv        ? csv_of(table)
                   : options.markdown ? markdown_of(table)
                   : options.full     ? text_of(table)
                                      : short_text_of(table, "--full shows all columns"));
  if (!options.group_by.empty()) warn_mixed_groups(group_by_keys(runs, options.group_by), options.group_by);
  warn_omitted_published(runs);
  warn_misleading(runs);
  warn_incomparable(runs);
}

}  // namespace rondo
