// The runs of a sweep, and its diagram.
#include "lm/report/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "data/files/lines.h"
#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {

// --- Grid ---

namespace {

constexpr std::size_t most_runs = 10'000, longest_file_name = 255;
const std::string seed_key = "train.seed";

/// The parts of a text between separators, without spaces around them. A separator within brackets or quotes
/// is not one.
std::vector<std::string> split_values(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  char quote = 0;
  int brackets = 0;
  for (const char it : text) {
    if (quote == 0 && brackets == 0 && it == separator) {
      parts.emplace_back();
      continue;
    }
    parts.back() += it;
    if (quote != 0)
      quote = it == quote ? '\0' : quote;
    else if (it == '"' || it == '\'')
      quote = it;
    else if (it == '[' || it == ']')
      brackets += it == '[' ? 1 : -1;
  }
  for (std::string& part : parts) part = std::string(stripped(part));
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

/// Settings of a run, and what they add to the name of its folder.
using Choice = std::pair<std::vector<Setting>, std::string>;

/// The choices of an axis. Each is set in `scratch`, which checks its values, once and not in each
/// combination; `named` are the keys that folders are named after.
std::vector<Choice> choices_of(const SweptSettings& axis, const std::vector<std::string>& named,
                               Recipe& scratch) {
  std::vector<Choice> choices;
  const Keys keys = keys_of(scratch);
  for (const std::vector<std::string>& values : axis.values) {
    auto& [settings, name] = choices.emplace_back();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::string& key = axis.keys[k];
      settings.push_back({fmt::format("--set {}={}", key, values[k]), key, values[k]});
      const Key& set = set_in(scratch, keys, settings.back());
      const std::string shown =
          set.name == width_key && scratch.fitted_parameters > 0 ? values[k] : shown_value(set);
      if (std::ranges::find(named, key) != named.end())
        name += "_" + shown_name(key, named) + "=" + for_file_name(shown);
    }
  }
  return choices;
}

}  // namespace

SweptSettings parse_swept(const std::string& text) {
  const Setting whole = parse_setting(text);
  SweptSettings swept{whole.where, split_values(whole.key, ':'), {}};
  check_input(!whole.value.empty(), "{}: no value is given; as in --set model.hidden=800,900", whole.where);
  for (const std::string& choice : split_values(whole.value, ',')) {
    check_input(!choice.empty(), "{}: there is a comma too many; an empty text is written \"\"", whole.where);
    swept.values.push_back(swept.keys.size() == 1 ? std::vector{choice} : split_values(choice, ':'));
    check_input(swept.values.back().size() == swept.keys.size(),
                "{}: {} are {} keys, and '{}' has another number of values; as in --set "
                "model.hidden:model.dropout=650:0.5,1500:0.65",
                whole.where, excerpt(whole.key), swept.keys.size(), excerpt(choice));
  }
  return swept;
}

std::vector<SweepRun> runs_of_sweep(const std::string& recipe, const std::vector<SweptSettings>& swept,
                                    std::optional<std::int64_t> seeds) {
  const Recipe loaded = load_recipe(recipe);
  Recipe scratch = loaded;
  std::vector<SweptSettings> axes = swept;
  const bool sweeps_seed = std::ranges::any_of(
      swept, [](const SweptSettings& it) { return std::ranges::find(it.keys, seed_key) != it.keys.end(); });
  if (seeds || !sweeps_seed) {
    SweptSettings& numbered = axes.emplace_back(SweptSettings{"--seeds", {seed_key}, {}});
    for (std::int64_t i = 0; i < seeds.value_or(1); ++i)
      numbered.values.push_back({fmt::format("{}", scratch.trainer.seed + i)});
  }
  std::vector<std::string> named;  // keys that folders are named after
  std::set<std::string> known;
  for (const SweptSettings& it : axes)
    for (const std::string& key : it.keys) {
      check_input(known.insert(key).second, "{}: {} has values already: give all of them in one list",
                  it.where, excerpt(key));
      if (it.values.size() > 1 || key == seed_key) named.push_back(key);
    }
  std::vector<Choice> combinations(1);
  for (const SweptSettings& axis : axes) {
    check_input(combinations.size() * axis.values.size() <= most_runs,
                "these are more than {} runs: leave out some values or seeds", most_runs);
    const std::vector<Choice> choices = choices_of(axis, named, scratch);
    std::vector<Choice> longer;
    for (const auto& [settings, name] : combinations)
      for (const auto& [more, its_name] : choices) {
        std::vector<Setting>& all = longer.emplace_back(settings, name + its_name).first;
        all.insert(all.end(), more.begin(), more.end());
      }
    combinations = std::move(longer);
  }
  std::vector<SweepRun> runs;
  std::set<std::string> names;
  for (auto& [settings, name] : combinations) {
    SweepRun& run = runs.emplace_back(SweepRun{name.substr(1), std::move(settings), {}});
    check_input(names.insert(run.name).second,
                "{}: a value is given twice; a list is one value in [ ], as in model.hidden=[128,128]",
                run.name);
    check_input(run.name.size() <= longest_file_name,
                "{}...: the name of the run's folder has {} bytes, and may have {}: shorten the values",
                run.name.substr(0, 40), run.name.size(), longest_file_name);
    try {
      run.recipe = resolve_recipe(loaded, recipe, run.settings);
    } catch (const InputError& error) {
      throw InputError(run.name + ": " + error.what());
    }
  }
  return runs;
}

// --- Diagram ---

namespace {

const std::string parameters = "parameters";
constexpr double half_band = 0.25;  // figure 3 of "Major-Minor LSTMs for Word-level Language Model"

/// The diagrams of a sweep in the making.
struct SweepDrawing {
  explicit SweepDrawing(const Runs& runs)
      : recipe(runs.front()->recipe().name),
        score(decisive_score(runs.front()->recipe())),
        keys(differing_keys(runs)),
        rows(grouped(runs)) {
    for (const auto& run : runs)
      check_input(run->recipe().name == recipe,
                  "{} and {} are of several recipes, {} and {}: a diagram is of one", runs.front()->path,
                  run->path, recipe, run->recipe().name);
    for (const std::string& key : keys)
      if (std::ranges::all_of(rows,
                              [&](const Runs& row) { return parse_number(value(row, key)).has_value(); }))
        on_x.push_back(key);
    x = on_x.size() == 1 ? on_x.front() : parameters;
    const auto tells_rows_apart = [&] {
      std::set<std::pair<std::string, double>> points;
      for (const Runs& row : rows) points.emplace(curve_of(row), x_of(row));
      return points.size() == rows.size();
    };
    for (auto key = on_x.rbegin(); key != on_x.rend() && !tells_rows_apart(); ++key) x = *key;
    if (!on_x.empty() && !tells_rows_apart()) on_x = {x = on_x.back()};
    std::set<std::string> curves;
    for (const Runs& row : rows) curves.insert(curve_of(row));
    if (curves.size() == rows.size() && rows.size() > 1) {  // no curve would have two points
      on_x.clear();
      x = "";
      return;
    }
    std::ranges::stable_sort(rows, [&](const Runs& a, const Runs& b) { return x_of(a) < x_of(b); });
  }

  static std::string value(const Runs& row, const std::string& key) {
    return shown_value(row.front()->recipe(), key);
  }
  double x_of(const Runs& row) const {
    return x == parameters ? static_cast<double>(row.front()->parameters) : *parse_number(value(row, x));
  }
  /// The mean of the score on the validation text, the less the better; infinite: not measured.
  double loss(const Runs& row) const {
    const Mean mean = mean_score(row, valid_kind, score.key);
    return mean.n == 0 ? HUGE_VAL : score.higher_is_better ? -mean.value : mean.value;
  }
  /// The best row on the validation text; none if the rows have several vocabularies, which do not compare.
  const Runs* best() const {
    const RunRecord& first = *rows.front().front();
    for (const Runs& row : rows)
      if (first.recipe().task->predicts_text() && row.front()->types != first.types) return nullptr;
    const auto least =
        std::ranges::min_element(rows, [&](const Runs& a, const Runs& b) { return loss(a) < loss(b); });
    return loss(*least) < HUGE_VAL ? &*least : nullptr;
  }
  /// The values of a row that the x axis does not show: "optimizer sgd, dropout 0.5".
  std::string curve_of(const Runs& row) const {
    std::vector<std::string> texts;
    for (const std::string& key : keys)
      if (std::ranges::find(on_x, key) == on_x.end())
        texts.push_back(fmt::format("{} {}", shown_name(key, keys), value(row, key)));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// A diagram of a figure of each row, which `mean_of_row` returns, with a curve for each combination of the
  /// settings that the x axis does not show; one row may be ringed.
  template <class MeanOf>
  Plot plot(const std::string& title, const PlotAxis& y, const MeanOf& mean_of_row,
            const Runs* ringed = nullptr) const {
    Plot plot{
        .title = recipe + ": " + title, .x = {.label = x.empty() && keys.size() == 1 ? keys[0] : x}, .y = y};
    if (!x.empty())
      plot.x.logarithmic = x_of(rows.front()) > 0 && x_of(rows.back()) >= 20 * x_of(rows.front());
    std::map<std::string, PlotCurve> curves;
    for (const Runs& row : rows) {
      const Mean its = mean_of_row(row);
      if (its.n == 0) continue;
      PlotCurve& curve = curves[x.empty() ? "" : curve_of(row)];
      if (ringed == &row) curve.ringed = curve.points.size();
      if (x != parameters && !x.empty() && (plot.x.ticks.empty() || plot.x.ticks.back() < x_of(row)))
        plot.x.ticks.push_back(x_of(row));
      const auto place = static_cast<double>(plot.x.names.size());
      curve.points.push_back({x.empty() ? place : x_of(row), its.value, its.deviation});
      if (!x.empty()) continue;
      curve.width = 0;
      plot.x.names.push_back(keys.size() == 1 ? value(row, keys[0]) : curve_of(row));
    }
    for (auto& [label, curve] : curves) {
      curve.label = label;
      plot.curves.push_back(std::move(curve));
    }
    return plot;
  }
  /// The diagram of one text.
  Plot score_plot(std::size_t kind) const {
    const auto mean_of_row = [&](const Runs& row) { return mean_score(row, kind, score.key); };
    const Runs* const best_row = best();
    Plot made = plot(fmt::format("{} of the {} text", score.name, kind == valid_kind ? "validation" : "test"),
                     {.label = score.name}, mean_of_row, best_row);
    const Mean its = best_row ? mean_of_row(*best_row) : Mean();
    if (its.n > 0 && score.key == "perplexity") {
      made.y.label += fmt::format(" (grey: best ± {})", half_band);
      made.band = {its.value - half_band, its.value + half_band};
    }
    return made;
  }
  /// The diagram of the time that all updates took.
  Plot time_plot() const {
    const auto mean_time = [](const Runs& row, double unit) {
      std::vector<double> times;
      for (const auto& run : row)
        if (const double seconds = run->last_evaluation().when.seconds; !std::isnan(seconds))
          times.push_back(seconds / unit);
      return mean_of(times);
    };
    double longest = 0;
    for (const Runs& row : rows) longest = std::max(longest, mean_time(row, 1).value);
    const auto [unit, name] = longest < 120    ? std::pair(1.0, "seconds")
                              : longest < 7200 ? std::pair(60.0, "minutes")
                                               : std::pair(3600.0, "hours");
    return plot("training time", {.label = name, .from = 0},
                [&, unit = unit](const Runs& row) { return mean_time(row, unit); });
  }

  std::string recipe;
  ScoreStyle score;                 // by which runs are compared
  std::vector<std::string> keys;    // that differ between the runs
  std::vector<Runs> rows;           // whose runs differ only in their seed; in the order of the x axis
  std::vector<std::string> on_x{};  // the keys of numbers, whose values are points of one curve
  std::string x{};                  // one of them, or "parameters"; empty: each row has a tick
};

}  // namespace

std::map<std::string, Plot> plots_of_sweep(const Runs& runs) {
  Runs finished;
  std::ranges::copy_if(runs, std::back_inserter(finished), [](const auto& run) { return run->finished; });
  if (finished.empty()) return {};
  const SweepDrawing drawing(finished);
  std::map<std::string, Plot> plots{{"", drawing.score_plot(valid_kind)},
                                    {"_test", drawing.score_plot(test_kind)},
                                    {"_time", drawing.time_plot()}};
  std::erase_if(plots, [](const auto& it) { return !has_points(it.second); });
  return plots;
}

}  // namespace rondo
