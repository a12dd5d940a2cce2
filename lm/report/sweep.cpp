// What a sweep has found.
#include "lm/report/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "data/files.h"
#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/program/terminal.h"
#include "lm/report/run_table.h"

namespace rondo {

// --- Sweep grid ---

namespace {

constexpr std::size_t most_runs = 10'000, longest_file_name = 255;

/// The parts of a text between separators, without spaces around them. A separator within brackets or quotes
/// is not one; these are at the beginning of a part, after a `joiner` (0: none), or within brackets.
std::vector<std::string> split_values(const std::string& text, char separator, char joiner = 0) {
  std::vector<std::string> parts(1);
  char quote = 0;
  bool in_brackets = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char it = text[i];
    std::string& part = parts.back();
    if (quote == 0 && !in_brackets && it == separator) {
      parts.emplace_back();
      continue;
    }
    if (part.empty() && it == ' ') continue;
    const bool at_begin = part.empty() || in_brackets || part.back() == joiner;
    part += it;
    if (quote != 0 && it == '\\' && quote == '"' && i + 1 < text.size())
      part += text[++i];
    else if (quote != 0)
      quote = it == quote ? '\0' : quote;
    else if (at_begin && (it == '"' || it == '\''))
      quote = it;
    else if (at_begin && it == '[')
      in_brackets = true;
    else if (in_brackets && it == ']')
      in_brackets = false;
  }
  for (std::string& part : parts) part.erase(part.find_last_not_of(' ') + 1);
  return parts;
}

/// As a part of a file's name that stands for no other value.
std::string for_file_name(const std::string& value) {
  std::string name;
  for (const char it : value) {
    const bool plain = (it >= '0' && it <= '9') || (it >= 'a' && it <= 'z') || (it >= 'A' && it <= 'Z') ||
                       std::string_view("._+,-").find(it) != std::string_view::npos;
    if (plain)
      name += it;
    else if (it != ' ')
      name += fmt::format("%{:02X}", static_cast<unsigned char>(it));
  }
  return name;
}

/// One of the choices of swept settings.
struct Choice {
  std::vector<Setting> settings;
  std::vector<std::string> values;  // as shown_value()
};

const Key& key_named(const std::string& name, const Keys& keys) {
  return *std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
}

/// Checks keys and values, each on its own, by setting them in `recipe`.
std::vector<Choice> choices_of(const SweptSettings& swept, Recipe& recipe) {
  std::vector<Choice> choices;
  for (const std::vector<std::string>& values : swept.values) {
    Choice choice;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::string& key = swept.keys[k];
      choice.settings.push_back({fmt::format("--set {}={}", key, values[k]), key, values[k]});
      const Keys keys = keys_of(recipe);
      apply_setting(choice.settings.back(), keys);
      choice.values.push_back(shown_value(key_named(key, keys)));
    }
    const bool is_list = std::any_of(swept.keys.begin(), swept.keys.end(), [&](const std::string& key) {
      return value_text(key_named(key, keys_of(recipe))).starts_with('[');
    });
    for (const Choice& other : choices)
      check_input(other.values != choice.values, "{}: {} is given twice{}", swept.where,
                  excerpt(fmt::format("{}", fmt::join(choice.values, ":"))),
                  is_list ? "; a list is one value in [ ], as in model.hidden=[128,128]" : "");
    choices.push_back(std::move(choice));
  }
  return choices;
}

void check_keys_differ(const std::vector<SweptSettings>& swept) {
  std::map<std::string, std::string> where;
  for (const SweptSettings& it : swept)
    for (const std::string& key : it.keys) {
      const auto [other, is_new] = where.emplace(key, it.where);
      check_input(is_new, "{}: {} has values already, by {}: give all of them in one list", it.where,
                  excerpt(key), other->second);
    }
}

}  // namespace

SweptSettings parse_swept(const std::string& text) {
  const Setting whole = parse_setting(text);
  SweptSettings swept{whole.where, split_values(whole.key, ':'), {}};
  check_input(!whole.value.empty(), "{}: no value is given; as in --set model.hidden=800,900", whole.where);
  for (const std::string& choice : split_values(whole.value, ',', swept.keys.size() > 1 ? ':' : '\0')) {
    check_input(!choice.empty(),
                "{}: there is a comma too many; an empty text is written \"\", a text with a comma in quotes",
                whole.where);
    swept.values.push_back(swept.keys.size() == 1 ? std::vector{choice} : split_values(choice, ':'));
    check_input(swept.values.back().size() == swept.keys.size(),
                "{}: {} are {} keys, and '{}' has {} value{}; as in --set "
                "model.hidden:model.dropout=650:0.5,1500:0.65",
                whole.where, excerpt(whole.key), swept.keys.size(), excerpt(choice),
                swept.values.back().size(), swept.values.back().size() == 1 ? "" : "s");
  }
  return swept;
}

std::vector<SweepRun> runs_of_sweep(const std::string& recipe, const std::vector<SweptSettings>& swept,
                                    std::optional<std::int64_t> seeds) {
  check_keys_differ(swept);
  Recipe scratch = load_recipe(recipe);
  std::vector<std::vector<Choice>> axes;
  std::vector<std::string> keys;  // that are named in the folders
  std::size_t count = static_cast<std::size_t>(seeds.value_or(1));
  bool seeds_are_swept = false;
  for (const SweptSettings& it : swept) {
    axes.push_back(choices_of(it, scratch));
    count *= std::min(axes.back().size(), most_runs);
    check_input(count <= most_runs, "these are more than {} runs: leave out some values or seeds", most_runs);
    if (axes.back().size() == 1) continue;
    keys.insert(keys.end(), it.keys.begin(), it.keys.end());
    seeds_are_swept |= std::find(it.keys.begin(), it.keys.end(), "train.seed") != it.keys.end();
    check_input(!seeds_are_swept || !seeds,
                "{}: --seeds numbers the seeds from train.seed on: give one of them", it.where);
  }
  std::vector<SweepRun> runs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t seed = i % static_cast<std::size_t>(seeds.value_or(1));
    std::size_t rest = i / static_cast<std::size_t>(seeds.value_or(1));
    std::vector<const Choice*> chosen(axes.size());
    for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a].size())
      chosen[a] = &axes[a][rest % axes[a].size()];
    SweepRun run;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      run.settings.insert(run.settings.end(), chosen[a]->settings.begin(), chosen[a]->settings.end());
      for (std::size_t k = 0; k < chosen[a]->values.size() && axes[a].size() > 1; ++k)
        run.name +=
            fmt::format("{}={}_", shown_name(swept[a].keys[k], keys), for_file_name(chosen[a]->values[k]));
    }
    try {
      run.recipe = resolve_recipe(recipe, run.settings);
    } catch (const InputError& error) {
      const std::string combination = run.name.substr(0, run.name.size() - !run.name.empty());
      const bool several_cells = std::any_of(keys.begin(), keys.end(),
                                             [](const std::string& key) { return key.ends_with(".cell"); });
      throw InputError(fmt::format(
          "{}{}{}{}", combination, combination.empty() ? "" : ": ", error.what(),
          several_cells ? "; a setting that only some cells have varies with the cell, as in --set "
                          "model.cell:model.forget_bias=lstm:1,gru:0"
                        : ""));
    }
    run.seed = run.recipe.trainer.seed += static_cast<std::int64_t>(seed);
    if (seeds_are_swept)
      run.name.pop_back();
    else
      run.name += fmt::format("seed={}", run.seed);
    check_input(run.name.size() <= longest_file_name,
                "{}...: the name of the run's folder has {} bytes, and may have {}: shorten the values",
                run.name.substr(0, 40), run.name.size(), longest_file_name);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string shown_value(const Key& key) {
  std::string text = value_text(key);
  const bool is_list = text.starts_with('[') && text.find(',') == std::string::npos && text.size() > 2;
  if (is_list || text.starts_with('"')) text = text.substr(1, text.size() - 2);
  return text;
}

std::string shown_name(const std::string& key, const std::vector<std::string>& keys) {
  const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
  const auto same = std::count_if(keys.begin(), keys.end(),
                                  [&](const std::string& other) { return last(other) == last(key); });
  return same > 1 ? key : last(key);
}

// --- Sweep report ---

namespace fs = std::filesystem;

std::string data_settings(Recipe recipe) {
  std::string text;
  for (const Key& key : keys_of(recipe))
    if (key.name.starts_with("data.") || key.name.starts_with("tasks."))
      text += key.name + " = " + value_text(key) + '\n';
  return text;
}

void check_same_texts(const Runs& runs, const std::string& advice) {
  std::map<std::string, const RunRecord*> first;  // by the settings of data
  for (const auto& run : runs) {
    const RunRecord& other = *first.try_emplace(data_settings(run->recipe()), run.get()).first->second;
    const Provenance &its = run->config.made_by, &others = other.config.made_by;
    check_input(is_same_data(others.sha256, its.sha256) || is_same_data(its.sha256, others.sha256),
                "{}: has another text, {}, than {} with {}: {}", run->path, name_of_text(its.data),
                other.path, name_of_text(others.data), advice);
  }
}

bool holds_runs(const fs::path& folder) {
  return fs::is_directory(folder) && !file_is_there(RunFolder{folder}.config()) && !runs_in(folder).empty();
}

std::vector<std::string> runs_among(const std::vector<std::string>& paths) {
  const auto is_written_beside_runs = [](const fs::path& path) {
    const fs::path ending = path.extension();
    return fs::is_regular_file(path) && (ending == ".svg" || ending == ".html" || ending == ".csv");
  };
  std::vector<std::string> runs;
  for (const std::string& path : paths) {
    if (paths.size() > 1 && is_written_beside_runs(path)) continue;
    if (holds_runs(path))
      for (const fs::path& run : runs_in(path)) runs.push_back(run.string());
    else
      runs.push_back(path);
  }
  return runs;
}

std::pair<Runs, int> read_runs(const std::vector<std::string>& paths) {
  Runs runs;
  int status = 0;
  for (const std::string& path : paths) try {
      runs.push_back(std::make_shared<const RunRecord>(read_run(path)));
    } catch (const InputError&) {
      const Failure failure = current_failure();
      fmt::print(stderr, "{}\n", failure.line);
      status = failure.exit_status;
    }
  return {std::move(runs), status};
}

namespace {

using Row = SweepReport::Row;

/// Whether one row of values comes before another: numbers by their size, then texts.
bool is_before(const Row& a, const Row& b) {
  return std::lexicographical_compare(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                                      [](const std::string& x, const std::string& y) {
                                        const std::optional<double> of_x = number_of(x), of_y = number_of(y);
                                        if (of_x && of_y && *of_x != *of_y) return *of_x < *of_y;
                                        return of_x.has_value() != of_y.has_value() ? of_x.has_value()
                                                                                    : x < y;
                                      });
}

/// The mean of the score that decides; none: not measured.
std::optional<Mean> decisive_mean(const SweepReport& report, const Row& row, std::size_t kind) {
  const std::optional<Mean> mean = mean_score(row.runs, kind, report.score.key);
  return mean && mean->n > 0 ? mean : std::nullopt;
}

std::optional<std::size_t> best_row(const SweepReport& report) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const RunRecord &run = *report.rows[i].runs.front(), &first = *report.rows.front().runs.front();
    if (run.types != first.types && first.recipe().task->predicts_text())
      return std::nullopt;  // no comparison
    const std::optional<Mean> mean = decisive_mean(report, report.rows[i], valid_kind);
    if (!mean) continue;
    const double loss = report.score.higher_is_better ? -mean->value : mean->value;
    if (!best || loss < least) best = i, least = loss;
  }
  return best;
}

}  // namespace

SweepReport report_of_sweep(const fs::path& folder) {
  const Runs runs = read_runs(runs_among({folder.string()})).first;
  check_input(!runs.empty(), "{}: holds no run", folder.string());
  SweepReport report;
  report.recipe = runs.front()->recipe().name;
  report.score = decisive_score(runs.front()->recipe());
  const std::string advice =
      fmt::format("give the runs, as in {}/*", command_with({"table", folder.string()}));
  Runs finished;
  for (const auto& run : runs) {
    check_input(run->recipe().name == report.recipe, "{}: holds runs of several recipes, {} and {}: {}",
                folder.string(), report.recipe, run->recipe().name, advice);
    if (run->finished)
      finished.push_back(run);
    else
      report.unfinished.push_back(run->path);
  }
  check_same_texts(runs, advice);
  report.keys = differing_keys(runs);
  for (Runs& group : group_by_settings(finished)) {
    std::vector<std::string> values = values_of(group.front()->recipe(), report.keys);
    report.rows.push_back({std::move(values), std::move(group)});
  }
  std::stable_sort(report.rows.begin(), report.rows.end(), is_before);
  report.best = best_row(report);
  const auto& recipes = built_in_recipes();
  if (std::none_of(recipes.begin(), recipes.end(), [&](const auto& it) { return it.name == report.recipe; }))
    return report;
  const std::vector<std::string> standard = values_of(load_recipe(report.recipe), report.keys);
  for (std::size_t i = 0; i < report.rows.size(); ++i)
    if (report.rows[i].values == standard) report.standard = i;
  return report;
}

namespace {

TextTable table_of(const SweepReport& report) {
  std::vector<Runs> groups;
  for (const Row& row : report.rows) groups.push_back(row.runs);
  GroupTable rows{groups};
  const auto always = ColumnShown::always;
  for (const std::string& key : report.keys) rows.add_setting(shown_name(key, report.keys), key, always);
  if (report.keys.empty())
    rows.add_texts("recipe", always, [&](const RunRecord&) -> TableCell { return report.recipe; });
  rows.add_of_groups("runs", always, [](const Runs& group) { return count_cell(std::ssize(group)); });
  rows.add("parameters", always, [](const RunRecord& run) { return count_cell(run.parameters); });
  for (const std::size_t kind : {valid_kind, test_kind}) {
    const std::string& split = kinds_of_measurement[kind].name;
    rows.add_of_groups(split + " " + report.score.name, always,
                       [&](const Runs& group) { return score_cell(group, kind, report.score); });
    rows.add_symbols(split + " symbols", always, kind);
    rows.remove_if_empty(2);
    rows.remove_if_empty();
  }
  if (report.rows.size() > 1)
    rows.add_of_groups("best on valid", always,
                       [&](const Runs& group) -> TableCell {
                         return {report.best && group == groups[*report.best] ? "best" : ""};
                       })
        .is_text = true;
  return rows.table;
}

nlohmann::ordered_json json_of(const SweepReport& report) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const Row& row = report.rows[i];
    Json settings = Json::object(), runs = Json::array(), seeds = Json::array();
    for (std::size_t k = 0; k < report.keys.size(); ++k)
      settings[report.keys[k]] = json_of_value(row.values[k]);
    for (const auto& run : row.runs) runs.push_back(run->path), seeds.push_back(run->recipe().trainer.seed);
    const auto mean_json = [&](std::size_t kind) {
      const std::optional<Mean> mean = decisive_mean(report, row, kind);
      if (!mean) return Json();
      Json json = json_of(*mean);
      json["symbols"] = row.runs.front()->measured[kind]->symbols;
      return json;
    };
    rows.push_back({{"settings", settings},
                    {"parameters", row.runs.front()->parameters},
                    {"valid", mean_json(valid_kind)},
                    {"test", mean_json(test_kind)},
                    {"best", report.best == i},
                    {"runs", runs},
                    {"seeds", seeds}});
  }
  return {{"recipe", report.recipe},
          {"figure", report.score.name},
          {"rows", rows},
          {"unfinished", report.unfinished}};
}

/// What the x axis shows: the index of a key, or none for the number of parameters.
std::optional<std::size_t> plotted_key(const SweepReport& report, const std::string& over) {
  if (over == "parameters") return std::nullopt;
  std::vector<std::size_t> numeric;
  std::vector<std::string> known = {"parameters"};
  for (std::size_t k = 0; k < report.keys.size(); ++k)
    if (std::all_of(report.rows.begin(), report.rows.end(),
                    [&](const Row& row) { return number_of(row.values[k]).has_value(); })) {
      if (report.keys[k] == over) return k;
      numeric.push_back(k), known.push_back(report.keys[k]);
    }
  if (over.empty()) return numeric.size() == 1 ? std::optional(numeric.front()) : std::nullopt;
  throw InputError(
      fmt::format("--over {}: no key of numbers that the sweep varies{}", over, did_you_mean(over, known)));
}

/// Whether the number of parameters depends on the key with this index.
bool changes_parameters(const SweepReport& report, std::size_t k) {
  const auto others = [&](const Row& row) {
    std::vector<std::string> values = row.values;
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(k));
    return values;
  };
  for (const Row& a : report.rows)
    for (const Row& b : report.rows)
      if (others(a) == others(b) && a.runs.front()->parameters != b.runs.front()->parameters) return true;
  return false;
}

/// "hidden 96, layers 2": the values of the keys with these indices.
std::string values_text(const SweepReport& report, const Row& row, const std::vector<std::size_t>& keys) {
  std::vector<std::string> texts;
  for (const std::size_t k : keys)
    texts.push_back(fmt::format("{} {}", shown_name(report.keys[k], report.keys), row.values[k]));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The diagram of one text; one curve for each combination of the keys that the x axis does not show.
Plot plot_of(const SweepReport& report, std::optional<std::size_t> key, std::size_t kind, double band) {
  Plot plot{.title = fmt::format("{}: {} of the {} text", report.recipe, report.score.name,
                                 kind == valid_kind ? "validation" : "test"),
            .x = {.label = key ? report.keys[*key] : "parameters"},
            .y = {.label = report.score.name}};
  std::vector<std::pair<double, std::size_t>> order;  // of the rows, by x
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const Row& row = report.rows[i];
    if (decisive_mean(report, row, kind))
      order.emplace_back(
          key ? *number_of(row.values[*key]) : static_cast<double>(row.runs.front()->parameters), i);
  }
  if (order.empty()) return plot;
  std::sort(order.begin(), order.end());
  plot.x.logarithmic = order.front().first > 0 && order.back().first >= 20 * order.front().first;
  std::map<std::string, PlotCurve> curves;
  for (const auto& [x, i] : order) {
    const Row& row = report.rows[i];
    std::vector<std::size_t> others;
    for (std::size_t k = 0; k < report.keys.size(); ++k)
      if (key ? k != *key : !number_of(row.values[k]) || !changes_parameters(report, k)) others.push_back(k);
    PlotCurve& curve = curves[values_text(report, row, others)];
    if (report.best == i) curve.ringed = curve.points.size();
    const Mean mean = *decisive_mean(report, row, kind);
    curve.points.push_back({x, mean.value, mean.deviation});
    if (plot.x.ticks.empty() || plot.x.ticks.back() != x) plot.x.ticks.push_back(x);
  }
  constexpr std::size_t most_ticks = 8;  // that are the values of a key
  if (!key || plot.x.ticks.size() > most_ticks) plot.x.ticks.clear();
  for (auto& [label, curve] : curves) {
    const bool has_seeds = std::any_of(curve.points.begin(), curve.points.end(),
                                       [](const PlotPoint& it) { return it.deviation > 0; });
    curve.label = !label.empty() ? label : has_seeds ? "mean and standard deviation over seeds" : "one seed";
    plot.curves.push_back(std::move(curve));
  }
  const std::optional<std::size_t> middle = report.standard ? report.standard : report.best;
  if (!middle || band <= 0) return plot;
  std::vector<std::size_t> all_keys(report.keys.size());
  for (std::size_t k = 0; k < all_keys.size(); ++k) all_keys[k] = k;
  if (const std::optional<Mean> mean = decisive_mean(report, report.rows[*middle], kind))
    plot.levels.push_back(
        {fmt::format("within {} of {}", band, values_text(report, report.rows[*middle], all_keys)),
         mean->value - band, mean->value + band});
  return plot;
}

}  // namespace

std::vector<Plot> plots_of(const SweepReport& report, const SweepPlotOptions& options) {
  const std::optional<std::size_t> key = plotted_key(report, options.over);
  const double band = options.band.value_or(report.score.key == "perplexity" ? default_band : 0);
  std::vector<Plot> plots;
  for (const std::size_t kind : {valid_kind, test_kind})
    if (const Plot plot = plot_of(report, key, kind, band); !plot.curves.empty()) plots.push_back(plot);
  return plots;
}

void check_plot(const Runs& runs, const SweepPlotOptions& options) {
  SweepReport report;
  report.keys = differing_keys(runs);
  for (const auto& run : runs) report.rows.push_back({values_of(run->recipe(), report.keys), {}});
  plotted_key(report, options.over);
}

void print_sweep(const fs::path& folder, const SweepReportOptions& options) {
  const fs::path file = file_to_write(options.plot_option, options.plot);
  const SweepReport report = report_of_sweep(folder);
  check_input(options.plot.empty() || file.extension() == ".svg",
              "{} {}: it writes SVG; give a name that ends with .svg", options.plot_option, options.plot);
  std::vector<Plot> plots;
  if (!options.plot.empty()) plots = plots_of(report, options.drawn);
  if (!plots.empty()) write_atomically(file, svg_of(plots));
  if (options.json) {
    nlohmann::ordered_json json = json_of(report);
    json["plot"] = nullptr;
    if (!plots.empty()) json["plot"] = options.plot;
    print_json(json);
  } else if (!report.rows.empty()) {
    fmt::print("{}", options.markdown ? markdown_of(table_of(report)) : text_of(table_of(report)));
  }
  Runs all;
  for (const Row& row : report.rows) all.insert(all.end(), row.runs.begin(), row.runs.end());
  warn_misleading(all);
  warn_incomparable(all);
  for (const std::string& run : report.unfinished) fmt::print(stderr, "lm: {}: not finished\n", run);
}

}  // namespace rondo
