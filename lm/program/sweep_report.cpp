// What a sweep has found.
#include "lm/program/sweep_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "data/files.h"
#include "data/input_file.h"
#include "lm/program/cli.h"
#include "lm/program/compared_settings.h"
#include "lm/program/nearest.h"
#include "lm/program/output.h"
#include "lm/program/output_file.h"
#include "lm/program/recipes.h"
#include "lm/program/shell_command.h"
#include "lm/program/sweep_grid.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Row = SweepReport::Row;

std::optional<Mean> measured_mean(const MeasuredRuns& runs, std::size_t kind, const Value& value) {
  const std::optional<Mean> mean = mean_of(runs, kind, value);
  return mean && mean->n > 0 ? mean : std::nullopt;
}

std::string row_title(const SweepReport& report, const Row& row) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < row.values.size(); ++k)
    texts.push_back(fmt::format("{} {}", shown_name(report.keys[k], report.keys), row.values[k]));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::string ComparedTexts::data_settings(Recipe recipe) {
  std::string text;
  for (const Key& key : keys_of(recipe))
    if (key.name.starts_with("data.") || key.name.starts_with("tasks."))
      text += key.name + " = " + value_text(key) + '\n';
  return text;
}

void ComparedTexts::add(const std::string& run, const Recipe& recipe, const Provenance& made_by,
                        const std::string& advice) {
  const auto [it, is_new] =
      texts_.try_emplace(data_settings(recipe), Text{run, made_by.data, made_by.sha256});
  const Text& other = it->second;
  check_input(is_same_data(other.sha256, made_by.sha256) || is_same_data(made_by.sha256, other.sha256),
              "{}: has another text, {}, than {} with {}: {}", run, name_of_text(made_by.data), other.run,
              name_of_text(other.data), advice);
}

bool holds_runs(const fs::path& folder) {
  return fs::is_directory(folder) && !file_is_there(RunFolder{folder}.config()) && !runs_in(folder).empty();
}

namespace {

/// Diagrams, pages and tables that `lm` writes beside runs, and "SWEEP/*" names as well.
bool is_written_beside_runs(const fs::path& path) {
  const fs::path ending = path.extension();
  return fs::is_regular_file(path) && (ending == ".svg" || ending == ".html" || ending == ".csv");
}

}  // namespace

std::vector<std::string> runs_among(const std::vector<std::string>& paths) {
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

SweepReport report_of_sweep(const fs::path& folder) {
  MeasuredRuns runs, finished;
  for (const fs::path& path : runs_in(folder)) try {
      runs.push_back(measured_run(path.string()));
    } catch (const InputError&) {  // only this run is left out
      fmt::print(stderr, "{}\n", current_failure().line);
    }
  check_input(!runs.empty(), "{}: holds no run", folder.string());
  SweepReport report;
  report.recipe = runs.front().recipe().name;
  report.figure = decisive_figure(runs.front().recipe());
  if (runs.front().recipe().kind == TaskKind::speech) report.scored = "characters";
  ComparedTexts texts;
  const std::string advice =
      fmt::format("give the runs, as in {}/*", command_with({"table", folder.string()}));
  for (const MeasuredRun& run : runs) {
    check_input(run.recipe().name == report.recipe, "{}: holds runs of several recipes, {} and {}: {}",
                folder.string(), report.recipe, run.recipe().name, advice);
    texts.add(run.run, run.recipe(), run.config.made_by, advice);
    if (run.finished)
      finished.push_back(run);
    else
      report.unfinished.push_back(run.run);
  }
  report.keys = differing_keys(runs);
  for (MeasuredRuns& line : lines_of(finished)) {
    Row row{values_of(line.front().recipe(), report.keys), {}, {}, {}};
    row.valid = measured_mean(line, valid_kind, report.figure.value);
    row.test = measured_mean(line, test_kind, report.figure.value);
    row.runs = std::move(line);
    report.rows.push_back(std::move(row));
  }
  std::stable_sort(report.rows.begin(), report.rows.end(),
                   [](const Row& a, const Row& b) { return is_before(a.values, b.values); });
  const auto recipes = built_in_recipes();
  const bool is_built_in = std::any_of(recipes.begin(), recipes.end(),
                                       [&](const BuiltInRecipe& it) { return it.name == report.recipe; });
  const auto standard =
      is_built_in ? values_of(load_recipe(report.recipe), report.keys) : std::vector<std::string>();
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const Row& row = report.rows[i];
    if (is_built_in && row.values == standard) report.standard = i;
    if (!row.valid) continue;
    const auto loss = [&](const Row& it) {
      return report.figure.higher_is_better ? -it.valid->mean : it.valid->mean;
    };
    if (!report.best || loss(row) < loss(report.rows[*report.best])) report.best = i;
  }
  const bool compares = std::all_of(report.rows.begin(), report.rows.end(), [&](const Row& row) {
    return row.runs.front().types == report.rows.front().runs.front().types;
  });
  if (!compares && has_perplexity(report.rows.front().runs.front().recipe().kind)) report.best.reset();
  return report;
}

TextTable table_of(const SweepReport& report) {
  TextTable table;
  for (const std::string& key : report.keys) table.push_back({shown_name(key, report.keys), false, {}});
  if (table.empty()) table.push_back({"recipe", true, {}});
  TextColumn runs{"runs", false, {}}, parameters{"parameters", false, {}}, best{"best on valid", true, {}};
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const Row& row = report.rows[i];
    for (std::size_t k = 0; k < report.keys.size(); ++k) {
      table[k].is_text |= !number_of(row.values[k]);
      table[k].cells.push_back(row.values[k]);
    }
    if (report.keys.empty()) table[0].cells.push_back(report.recipe);
    runs.cells.push_back(fmt::format("{}", row.runs.size()));
    parameters.cells.push_back(fmt::format("{}", row.runs.front().parameters));
    best.cells.emplace_back(report.best == i ? "best" : "");
  }
  table.push_back(runs);
  table.push_back(parameters);
  for (const std::size_t kind : {valid_kind, test_kind}) {
    const std::string& split = kinds_of_measurement[kind].name;
    TextColumn figures{split + " " + report.figure.name, false, {}},
        scored{split + " " + report.scored, false, {}};
    for (const Row& row : report.rows) {
      const std::optional<Measured>& first = row.runs.front().measured[kind];
      figures.cells.push_back(mean_text(row.runs, kind, report.figure.value, report.figure.digits));
      scored.cells.push_back(first && first->symbols > 0 ? fmt::format("{}", first->symbols) : dash);
    }
    if (is_empty(figures)) continue;
    table.push_back(figures);
    if (!is_empty(scored)) table.push_back(scored);
  }
  if (report.rows.size() > 1) table.push_back(best);
  return table;
}

Json json_of(const SweepReport& report) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const Row& row = report.rows[i];
    Json settings = Json::object(), runs = Json::array(), seeds = Json::array();
    for (std::size_t k = 0; k < report.keys.size(); ++k)
      settings[report.keys[k]] = json_of_value(row.values[k]);
    for (const MeasuredRun& run : row.runs)
      runs.push_back(run.run), seeds.push_back(run.recipe().trainer.seed);
    const auto mean_json = [&](const std::optional<Mean>& it, std::size_t kind) {
      if (!it) return Json();
      return Json{{"mean", it->mean},
                  {"deviation", it->n > 1 ? Json(it->deviation) : Json()},
                  {"n", it->n},
                  {"symbols", row.runs.front().measured[kind]->symbols}};
    };
    rows.push_back({{"settings", settings},
                    {"parameters", row.runs.front().parameters},
                    {"valid", mean_json(row.valid, valid_kind)},
                    {"test", mean_json(row.test, test_kind)},
                    {"best", report.best == i},
                    {"runs", runs},
                    {"seeds", seeds}});
  }
  return {{"recipe", report.recipe},
          {"figure", report.figure.name},
          {"rows", rows},
          {"unfinished", report.unfinished}};
}

namespace {

/// What the x axis shows: the index of a key, or none for the number of parameters.
std::optional<std::size_t> plotted_key(const SweepReport& report, const std::string& over) {
  if (over == "parameters") return std::nullopt;
  const auto is_number = [&](std::size_t k) {
    return std::all_of(report.rows.begin(), report.rows.end(),
                       [&](const Row& row) { return number_of(row.values[k]).has_value(); });
  };
  std::vector<std::size_t> numeric;
  for (std::size_t k = 0; k < report.keys.size(); ++k)
    if (is_number(k)) numeric.push_back(k);
  if (over.empty()) return numeric.size() == 1 ? std::optional(numeric.front()) : std::nullopt;
  std::vector<std::string> known = {"parameters"};
  for (const std::size_t k : numeric) known.push_back(report.keys[k]);
  for (const std::size_t k : numeric)
    if (report.keys[k] == over) return k;
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
      if (others(a) == others(b) && a.runs.front().parameters != b.runs.front().parameters) return true;
  return false;
}

constexpr std::size_t most_ticks = 8;  // of an axis whose ticks are the values of a key

/// The diagram of one split; one curve for each combination of the other keys.
Plot plot_of(const SweepReport& report, std::optional<std::size_t> key, std::optional<Mean> Row::*split,
             const std::string& split_name, double band) {
  Plot plot{.title = fmt::format("{}: {} of the {} text", report.recipe, report.figure.name, split_name)};
  plot.x.label = key ? report.keys[*key] : "parameters";
  plot.y.label = report.figure.name;
  std::map<std::string, PlotCurve> curves;
  std::vector<double> all_x;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const Row& row = report.rows[i];
    const std::optional<Mean>& mean = row.*split;
    if (!mean) continue;
    const double x = key ? *number_of(row.values[*key]) : static_cast<double>(row.runs.front().parameters);
    std::vector<std::string> others;
    for (std::size_t k = 0; k < report.keys.size(); ++k)
      if (key ? k != *key : !number_of(row.values[k]) || !changes_parameters(report, k))
        others.push_back(fmt::format("{} {}", shown_name(report.keys[k], report.keys), row.values[k]));
    PlotCurve& curve = curves[fmt::format("{}", fmt::join(others, ", "))];
    if (report.best == i) curve.ringed = curve.points.size();
    curve.points.push_back({x, mean->mean, mean->deviation});
    all_x.push_back(x);
  }
  if (all_x.empty()) return plot;
  std::sort(all_x.begin(), all_x.end());
  plot.x.logarithmic = all_x.front() > 0 && all_x.back() >= 20 * all_x.front();
  all_x.erase(std::unique(all_x.begin(), all_x.end()), all_x.end());
  if (key && all_x.size() <= most_ticks) plot.x.ticks = all_x;
  for (auto& [label, curve] : curves) {
    const std::optional<std::size_t> ringed = curve.ringed;
    const double at = ringed ? curve.points[*ringed].x : 0;
    std::sort(curve.points.begin(), curve.points.end(),
              [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    for (std::size_t i = 0; ringed && i < curve.points.size(); ++i)
      if (curve.points[i].x == at) curve.ringed = i;
    const bool has_seeds = std::any_of(curve.points.begin(), curve.points.end(),
                                       [](const PlotPoint& it) { return it.deviation > 0; });
    curve.label = !label.empty() ? label : has_seeds ? "mean and standard deviation over seeds" : "one seed";
    plot.curves.push_back(std::move(curve));
  }
  const std::optional<std::size_t> middle = report.standard ? report.standard : report.best;
  if (band > 0 && middle && report.rows[*middle].*split) {
    const double mean = (report.rows[*middle].*split)->mean;
    plot.bands.push_back({fmt::format("within {} of {}", band, row_title(report, report.rows[*middle])),
                          {{0, mean - band, mean + band}}});
  }
  return plot;
}

}  // namespace

std::vector<Plot> plots_of(const SweepReport& report, const SweepPlotOptions& options) {
  const std::optional<std::size_t> key = plotted_key(report, options.over);
  const double band = options.band.value_or(report.figure.name == "perplexity" ? default_band : 0);
  std::vector<Plot> plots;
  for (const auto& [split, name] : {std::pair(&Row::valid, "validation"), std::pair(&Row::test, "test")})
    if (const Plot plot = plot_of(report, key, split, name, band); !plot.curves.empty())
      plots.push_back(plot);
  return plots;
}

std::string svg_of(const SweepReport& report, const SweepPlotOptions& options) {
  const std::vector<Plot> plots = plots_of(report, options);
  return plots.empty() ? "" : svg_of(plots);
}

void check_plot(const MeasuredRuns& runs, const SweepPlotOptions& options) {
  SweepReport report;
  report.keys = differing_keys(runs);
  for (const MeasuredRun& run : runs)
    report.rows.push_back({values_of(run.recipe(), report.keys), {}, {}, {}});
  plotted_key(report, options.over);
}

void print_sweep(const fs::path& folder, const SweepReportOptions& options) {
  const fs::path plot = file_to_write(options.plot_option, options.plot);
  const SweepReport report = report_of_sweep(folder);
  check_input(options.plot.empty() || plot.extension() == ".svg",
              "{} {}: it writes SVG; give a name that ends with .svg", options.plot_option, options.plot);
  std::string drawn;
  if (!options.plot.empty()) drawn = svg_of(report, options.drawn);
  if (!drawn.empty()) write_atomically(plot, drawn);
  if (options.json) {
    Json json = json_of(report);
    json["plot"] = drawn.empty() ? Json() : Json(options.plot);
    print_json(json);
  } else if (!report.rows.empty()) {
    fmt::print("{}", options.markdown ? markdown_of(table_of(report)) : text_of(table_of(report)));
  }
  MeasuredRuns all;
  for (const Row& row : report.rows) all.insert(all.end(), row.runs.begin(), row.runs.end());
  say_what_misleads(all);
  say_what_does_not_compare(all);
  for (const std::string& run : report.unfinished) fmt::print(stderr, "lm: {}: not finished\n", run);
}

}  // namespace rondo
