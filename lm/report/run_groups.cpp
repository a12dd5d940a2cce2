// Runs in groups, their means, and the columns of a table of them.
#include "lm/report/run_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <tuple>

#include "data/files.h"
#include "lm/program/cli.h"
#include "lm/program/recipe.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/report/svg.h"
#include "tensor/error.h"

namespace rondo {

// --- Text table ---

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

// --- Run groups ---

namespace {

/// The settings of a run that affect its measurements, and the seed as 0.
Recipe without_seed(const RunRecord& run) {
  const Recipe defaults;
  Recipe recipe = run.recipe();
  recipe.trainer.seed = 0;
  recipe.description = recipe.paper = "";
  recipe.published = defaults.published;
  recipe.report = defaults.report;
  recipe.run.log_every = defaults.run.log_every;
  recipe.run.probe_every = defaults.run.probe_every;
  recipe.run.save_every = defaults.run.save_every;
  recipe.run.tensorboard = defaults.run.tensorboard;
  if (auto* task = dynamic_cast<SkipThoughtTask*>(&*recipe.task))
    task->settings.train.sentences_every = 0, task->settings.train.sentence_sets = {};
  return recipe;
}

/// Groups runs of which `identity` gives the same text, in the order of each group's first run. `admits` says
/// whether a group may have another run.
template <class Identity, class Admits>
std::vector<Runs> grouped(const Runs& runs, Identity identity, Admits admits) {
  std::vector<Runs> groups;
  std::vector<std::string> identities;
  for (const auto& run : runs) {
    const std::string its = identity(*run);
    std::size_t at = 0;
    while (at < groups.size() && (identities[at] != its || !admits(groups[at], *run))) ++at;
    if (at == groups.size()) identities.push_back(its), groups.emplace_back();
    groups[at].push_back(run);
  }
  return groups;
}

/// Prints a line on stderr.
template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::print(stderr, "lm: {}\n", fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// The settings of a recipe for a reader, by their keys.
std::map<std::string, std::string> shown_settings(Recipe recipe) {
  std::map<std::string, std::string> settings;
  for (const Key& key : keys_of(recipe)) {
    std::string text = value_text(key);
    const bool is_list_of_one = text.starts_with('[') && text.find(',') == text.npos && text.size() > 2;
    if (is_list_of_one || text.starts_with('"')) text = text.substr(1, text.size() - 2);
    settings[key.name] = text;
  }
  return settings;
}

}  // namespace

bool holds_runs(const std::filesystem::path& folder) {
  return std::filesystem::is_directory(folder) && !file_is_there(RunFolder{folder}.config()) &&
         !runs_in(folder).empty();
}

std::pair<Runs, int> read_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> folders;
  for (const std::string& path : paths) {
    const bool is_written_beside_runs =
        std::filesystem::is_regular_file(path) &&
        (path.ends_with(".svg") || path.ends_with(".html") || path.ends_with(".csv"));
    if (holds_runs(path))
      for (const std::filesystem::path& run : runs_in(path)) folders.push_back(run.string());
    else if (paths.size() == 1 || !is_written_beside_runs)
      folders.push_back(path);
  }
  Runs runs;
  int status = 0;
  for (const std::string& folder : folders) try {
      runs.push_back(std::make_shared<const RunRecord>(read_run(folder)));
    } catch (const InputError&) {
      const Failure failure = current_failure();
      fmt::print(stderr, "{}\n", failure.line);
      status = failure.exit_status;
    }
  return {std::move(runs), status};
}

std::vector<Runs> group_by_settings(const Runs& runs) {
  const auto identity = [](const RunRecord& run) {
    Recipe recipe = without_seed(run);
    const Provenance& made_by = run.config.made_by;
    return fmt::format("{}\n{} {} {} {} {} {}", write_toml(keys_of(recipe)), run.is_finetuned(),
                       made_by.initialized_from, run.vocabulary_size, name_of(made_by.device),
                       name_of(made_by.precision), fmt::join(digests_of(made_by.sha256), " "));
  };
  return grouped(runs, identity, [](const Runs& group, const RunRecord& run) {
    return run.finished && std::all_of(group.begin(), group.end(), [&](const auto& other) {
             return other->finished && other->recipe().trainer.seed != run.recipe().trainer.seed;
           });
  });
}

std::vector<Runs> group_by_keys(const Runs& runs, const std::vector<std::string>& keys) {
  const auto identity = [&](const RunRecord& run) {
    const Provenance& made_by = run.config.made_by;
    return fmt::format("{}\n{} {} {} {} {}", fmt::join(values_of(run.recipe(), keys), "\n"),
                       run.recipe().name, run.finished, run.is_finetuned(), made_by.initialized_from.empty(),
                       fmt::join(digests_of(made_by.sha256), " "));
  };
  return grouped(runs, identity, [](const Runs&, const RunRecord&) { return true; });
}

std::vector<std::string> differing_keys(const Runs& runs) {
  std::set<std::string> differing;
  const auto first = shown_settings(without_seed(*runs.front()));
  for (const auto& run : runs)
    for (const auto& [key, value] : shown_settings(without_seed(*run)))
      if (const auto found = first.find(key); found == first.end() || found->second != value)
        differing.insert(key);
  // Without pieces their settings say nothing; their defaults have changed between versions. Settings of
  // finetuning say nothing about a run that was not finetuned.
  const bool any_has_pieces = std::any_of(runs.begin(), runs.end(), [](const auto& run) {
    return run->recipe().task->tokenization().unit == Unit::pieces;
  });
  const bool all_are_finetuned =
      std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run->is_finetuned(); });
  std::vector<std::string> keys;
  Recipe recipe = runs.front()->recipe();
  for (const Key& key : keys_of(recipe))
    if (differing.contains(key.name) && (any_has_pieces || !key.name.starts_with("data.pieces")) &&
        (all_are_finetuned || !key.name.starts_with("finetune.")))
      keys.push_back(key.name);
  return keys;
}

std::vector<std::string> values_of(const Recipe& recipe, const std::vector<std::string>& keys) {
  const auto settings = shown_settings(recipe);
  std::vector<std::string> values;
  for (const std::string& key : keys) {
    const auto found = settings.find(key);
    values.push_back(found == settings.end() ? dash : found->second);
  }
  return values;
}

std::string shown_name(const std::string& key, const std::vector<std::string>& keys) {
  const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
  const auto same = std::count_if(keys.begin(), keys.end(),
                                  [&](const std::string& other) { return last(other) == last(key); });
  return same > 1 ? key : last(key);
}

std::optional<Mean> mean_score(const Runs& group, std::size_t kind, const std::string& key) {
  std::vector<double> figures;
  std::set<std::string> settings;
  for (const auto& run : group) {
    const std::optional<KeptMeasurement>& measured = run->measured[kind];
    if (!measured) continue;
    settings.insert(measured->settings);
    if (const double figure = score_in(measured->scores, key); std::isfinite(figure))
      figures.push_back(figure);
  }
  if (settings.size() > 1) return std::nullopt;
  return mean_of(figures, group.size());
}

TableCell score_cell(const Runs& group, std::size_t kind, const ScoreStyle& style) {
  const std::optional<Mean> mean = mean_score(group, kind, style.key);
  if (!mean) return {"several settings"};
  if (mean->n == 0) return {dash, mean};
  std::string text = fmt::format("{:.{}f}", mean->value, style.digits);
  if (mean->n > 1) text += fmt::format("{}{:.{}f}", plus_minus, mean->deviation, style.digits);
  return {mean->n == group.size() ? text : fmt::format("{} ({})", text, mean->n), mean};
}

std::vector<ScoreStyle> styles_of(const Runs& runs) {
  std::vector<const ScoreMap*> scores;
  for (const auto& run : runs) {
    for (const std::optional<KeptMeasurement>& it : run->measured)
      if (it) scores.push_back(&it->scores);
    for (const LoggedEvaluation& it : run->evaluations) scores.push_back(&it.scores);
  }
  return styles_of(scores);
}

ScoreStyle decisive_score(const Recipe& recipe) {
  const std::string metric = recipe.task->selection_metric();
  if (metric == "nats")
    return score_style(recipe.task->tokenization().unit == Unit::words ? "perplexity" : "bits");
  ScoreStyle style = score_style(metric);
  style.higher_is_better = recipe.task->higher_is_better();
  return style;
}

void warn_omitted_published(const Runs& runs) {
  struct Left {
    Runs runs;
    std::vector<std::string> keys;  // that were changed
  };
  std::map<std::string, Left> by_reason;
  for (const auto& run : runs) {
    const PublishedFigures& published = run->recipe().published;
    if (published_text(published).empty()) continue;
    const std::vector<std::string> changed = changed_keys(run->recipe(), run->is_finetuned());
    std::string reason;
    if (!changed.empty())
      reason = fmt::format("settings are not those of the recipe {}: ", run->recipe().name);
    else if (!run->is_of_the_papers_text())
      reason = fmt::format(
          "they are of another text (published.vocabulary = {}, here {}; published.test_symbols = {}, here "
          "{}; 0: not known)",
          published.vocabulary, run->types, published.test_symbols,
          run->measured[test_kind] ? run->measured[test_kind]->symbols : 0);
    else if (!run->finished)
      reason = "an unfinished run is not compared with them";
    else
      continue;
    auto& [with_it, keys] = by_reason[reason];
    with_it.push_back(run);
    for (const std::string& key : changed)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  for (const auto& [reason, left] : by_reason)
    say("{}{}: published figures are left out: {}{}", left.runs.front()->path,
        left.runs.size() > 1 ? fmt::format(" and {} more", left.runs.size() - 1) : "", reason,
        fmt::join(left.keys, ", "));
}

void warn_misleading(const Runs& runs) {
  for (const auto& run : runs) {
    if (!run->measured[valid_kind] && !run->steps.empty())
      say("{}: not evaluated yet; at step {}, after {:.2f} epochs, the training loss is {:.4f} nats",
          run->path, run->steps.back().when.step, run->steps.back().when.epochs, run->steps.back().nats);
    for (const std::size_t kind : {test_kind, valid_kind})
      if (const auto& it = run->measured[kind];
          it && run->recipe().language_modelling() &&
          is_worse_than_uniform(score_in(it->scores, "nats"), run->vocabulary_size))
        say("warning: {}: the figures on {} are worse than those of equal probabilities", run->path,
            kinds_of_measurement[kind].split);
  }
}

void warn_incomparable(const Runs& runs) {
  std::vector<std::string> know_little;
  std::map<std::vector<std::string>, std::set<std::int64_t>> types;  // of runs of one text
  for (const auto& run : runs) {
    if (!run->recipe().task->predicts_text()) continue;
    if (const auto& it = run->measured[run->measured[test_kind] ? test_kind : valid_kind]) {
      const UnknownShare share{"", it->unknowns.value_or(0), it->symbols};
      if (!warning_of_unknowns(share).empty())
        know_little.push_back(fmt::format("{} ({:.1f} %)", run->path, share.percent()));
    }
    if (const auto& sha256 = run->config.made_by.sha256; !sha256.empty() && run->types > 0)
      types[digests_of(sha256)].insert(run->types);
  }
  if (!know_little.empty())
    say("warning: many symbols of the test or validation text are unknown to {}: easy to predict, "
        "so that the figures do not compare with those of other runs",
        fmt::join(know_little, ", "));
  for (const auto& [text, sizes] : types)
    if (sizes.size() > 1)
      say("warning: runs of one text have vocabularies of {} symbols: bits and perplexity per symbol do "
          "not compare, since <unk> is easy to predict and symbols differ in length",
          fmt::join(sizes, ", "));
}

void warn_mixed_groups(const std::vector<Runs>& groups, const std::vector<std::string>& keys) {
  std::set<std::string> mixed;
  for (const Runs& group : groups)
    for (const std::string& key : differing_keys(group))
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) mixed.insert(key);
  if (!mixed.empty())
    say("the runs of a group also differ in {}: means and deviations are over these, too",
        fmt::join(mixed, ", "));
}

}  // namespace rondo
