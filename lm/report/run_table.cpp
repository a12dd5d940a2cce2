// The table of `lm table`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "data/files/lines.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/program/terminal.h"
#include "lm/report/run_groups.h"

namespace rondo {

namespace {

/// Returns the settings that are columns. Between recipes, and between a training and a finetuning, nearly
/// everything differs, and their names say it; the column of epochs says how long they were to be.
std::vector<std::string> shown_keys(const Runs& runs) {
  std::map<std::pair<std::string, bool>, Runs> comparable;
  for (const auto& run : runs) comparable[{run->recipe().name, run->is_finetuned()}].push_back(run);
  std::vector<std::string> keys;
  for (const auto& [name, group] : comparable)
    for (const std::string& key : differing_keys(group))
      if (key != "train.epochs" && key != "train.steps" && std::ranges::find(keys, key) == keys.end())
        keys.push_back(key);
  return keys;
}

/// The recipe's name; for a single run also the folder's name, if it differs, or its path.
std::string title_of(const Runs& group, bool with_path = false) {
  const RunRecord& run = *group.front();
  const std::string& begun_with = run.config.made_by.initialized_from;
  const std::string recipe =
      run.recipe().name + (run.is_finetuned()    ? ", finetuned"
                           : !begun_with.empty() ? ", begun with " + last_name(begun_with)
                                                 : "");
  const std::string folder = with_path ? run.path : last_name(run.path);
  return group.size() > 1 || folder == recipe ? recipe : fmt::format("{} ({})", recipe, folder);
}

TableCell epochs_cell(const RunRecord& run) {
  const TrainerOptions& planned = run.recipe().trainer;
  const auto& [when, epoch, scores, best] = run.last_evaluation();
  if (epoch == 0) return {};  // imported, or not evaluated yet
  const bool is_whole = when.epochs == static_cast<double>(epoch);
  std::string text = is_whole ? fmt::format("{}", epoch) : fmt::format("{:.2f}", when.epochs);
  if (planned.steps > 0)
    text += when.step < planned.steps ? fmt::format(" ({} of {} steps)", when.step, planned.steps)
                                      : fmt::format(" ({} steps)", planned.steps);
  else if (!is_whole || epoch != planned.epochs)
    text += fmt::format(" of {}", planned.epochs);
  return {text, when.epochs};
}

std::string state_of(const RunRecord& run) {
  if (run.config.made_by.is_imported()) return "imported";
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
  return name_of(usual_unit(*run.recipe().task)) == key || is_published;
}

/// Whether all runs have the same kind of symbols.
bool have_same_symbols(const Runs& runs) {
  std::set<std::pair<Unit, std::int64_t>> kinds;
  for (const auto& run : runs) {
    const Tokenization& it = run->recipe().task->tokenization();
    kinds.emplace(it.unit, it.unit == Unit::pieces ? it.pieces : 0);
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

/// The table of `lm table` in the making. A column in which nothing would be is not added.
struct RunTable {
  const Runs& runs;
  std::vector<Runs> groups;  // the rows
  TextTable table{};

  /// Adds a column; `cell_of` makes a cell of a group.
  template <class CellOf>
  void add(const std::string& name, CellOf cell_of, bool is_text = false) {
    std::vector<TableCell> cells;
    for (const Runs& group : groups) cells.push_back(cell_of(group));
    if (std::ranges::all_of(cells, [](const TableCell& it) { return it.text == dash; })) return;
    table.columns.push_back({name, is_text});
    table.rows.resize(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) table.rows[i].push_back(cells[i]);
  }
  /// Adds a column that has the cells of a group's runs, each text once, with the mean of their numbers.
  template <class CellOf>
  void add_of_runs(const std::string& name, CellOf cell_of, bool is_text = false) {
    const auto joined = [&](const Runs& group) {
      std::vector<std::string> texts;
      std::vector<double> numbers;
      for (const auto& run : group) {
        const TableCell cell = cell_of(*run);
        if (std::ranges::find(texts, cell.text) == texts.end()) texts.push_back(cell.text);
        if (cell.number && std::isfinite(cell.number->value)) numbers.push_back(cell.number->value);
      }
      const std::string text = fmt::format("{}", fmt::join(texts, "; "));
      return numbers.empty() ? TableCell(text) : TableCell(text, mean_of(numbers).value);
    };
    add(name, joined, is_text);
  }
  /// Adds a column of texts; an empty one is a dash.
  template <class TextOf>
  void add_texts(const std::string& name, TextOf text_of) {
    const auto cell_of = [&](const RunRecord& run) {
      const std::string text = text_of(run);
      return TableCell(text.empty() ? dash : text);
    };
    add_of_runs(name, cell_of, true);
  }
  void add_titles() {
    std::map<std::string, int> count;
    for (const Runs& group : groups) ++count[title_of(group)];
    const auto title = [&](const Runs& group) {
      return TableCell(title_of(group, count[title_of(group)] > 1));
    };
    add("recipe", title, true);
  }
  void add_setting(const std::string& name, const std::string& key) {
    const auto value = [&](const Runs& group) {
      return TableCell(shown_value(group.front()->recipe(), key));
    };
    const bool is_text = std::ranges::any_of(groups, [&](const Runs& group) {
      const std::string text = value(group).text;
      return text != dash && !parse_number(text);
    });
    add(name, value, is_text);
  }

  /// Adds the columns of one kind of measurement. Nats, symbols and the reading are shown only for models
  /// that do not adapt; JSON has them for all.
  void add_measurements(std::size_t k) {
    const MeasurementKind& kind = kinds_of_measurement[k];
    const bool is_measured =
        std::ranges::any_of(runs, [&](const auto& run) { return run->measured[k].has_value(); });
    if (!kind.is_plain() && !is_measured) return;
    add_of_runs(kind.name + " published", [&](const RunRecord& run) {
      const double figure = run.published(k);
      const std::string text = fmt::format("{} {}", figure, name_of(run.recipe().published.unit));
      return figure > 0 ? TableCell(text, figure) : TableCell();
    });
    const bool same_symbols = have_same_symbols(runs);
    for (const ScoreStyle& style : styles_of(runs))
      if (style.key != "nats" || kind.is_plain())
        add(kind.name + " " + style.name, [&](const Runs& group) {
          return shows_score(*group.front(), style.key, same_symbols) ? score_cell(group, k, style)
                                                                      : TableCell();
        });
    if (!kind.is_plain()) return;
    add_of_runs(kind.name + " symbols", [&](const RunRecord& run) {
      const std::optional<KeptMeasurement>& it = run.measured[k];
      return it && it->symbols > 0 ? TableCell(std::to_string(it->symbols)) : TableCell();
    });
    add_texts(kind.name + " reading",
              [&](const RunRecord& run) { return run.measured[k] ? run.measured[k]->read : ""; });
  }

  /// Adds a column for each result on each set that a run was measured on, in the order of the measurements.
  void add_sentence_results() {
    std::vector<std::string> sets;
    for (const auto& run : runs)
      for (const SentenceSetFigures& it : run->sentences)
        if (std::ranges::find(sets, it.set) == sets.end()) sets.push_back(it.set);
    for (const std::string& set : sets)
      for (const ScoreStyle& style : score_styles())
        add_of_runs(set + " " + style.name,
                    [&](const RunRecord& run) { return sentence_cell(run, set, style); });
  }
};

}  // namespace

TextTable table_of(const Runs& runs) {
  const std::vector<std::string> keys = shown_keys(runs);
  RunTable rows{runs, grouped(runs)};
  rows.add_titles();
  std::set<std::vector<std::string>> texts;
  std::set<Precision> precisions;
  for (const auto& run : runs) {
    texts.insert(digests_of(run->config.made_by.sha256));
    precisions.insert(run->config.made_by.precision);
  }
  texts.erase(std::vector<std::string>());
  if (texts.size() > 1)
    rows.add_texts("text", [](const RunRecord& run) { return short_name_of_text(run.config.made_by); });
  if (precisions.size() > 1)
    rows.add_texts("precision", [](const RunRecord& run) { return name_of(run.config.made_by.precision); });
  for (const std::string& key : keys) {
    const std::string name = shown_name(key, keys);
    rows.add_setting(name == "epochs" ? key : name, key);  // there are other epochs
  }
  if (rows.groups.size() < runs.size())
    rows.add("runs", [](const Runs& group) { return TableCell(std::to_string(group.size())); });
  rows.add_of_runs("parameters",
                   [](const RunRecord& run) { return TableCell(std::to_string(run.parameters)); });
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) rows.add_measurements(k);
  rows.add_sentence_results();
  rows.add_of_runs("epochs", epochs_cell, true);
  const bool are_finished =
      std::ranges::all_of(runs, [](const auto& run) { return state_of(*run) == "finished"; });
  if (!are_finished) rows.add_texts("state", state_of);
  rows.add_of_runs("training time", time_cell);
  return rows.table;
}

void print_table(const Runs& runs, TableForm* write) {
  fmt::print("{}", write(table_of(runs)));
  warn_of_figures(runs);
}

}  // namespace rondo
