// The runs of a sweep, and its diagram.
#include "lm/report/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "data/files/files.h"
#include "data/text/text.h"
#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "tensor/error.h"

namespace rondo {

// --- Grid ---

namespace {

constexpr std::size_t most_runs = 10'000, longest_file_name = 255;
const std::string seed_key = "train.seed";

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
  std::string name;  // "hidden=9_layers=2"; empty: there is only one
};

/// Checks keys and values, each on its own, by setting them in `recipe`. `varying` are the keys of the sweep
/// that are named in its folders.
std::vector<Choice> choices_of(const SweptSettings& swept, const std::vector<std::string>& varying,
                               Recipe& recipe) {
  std::vector<Choice> choices;
  std::set<std::vector<std::string>> known;
  for (const std::vector<std::string>& given : swept.values) {
    Choice choice;
    std::vector<std::string> values, names;
    for (std::size_t k = 0; k < given.size(); ++k) {
      const std::string& key = swept.keys[k];
      choice.settings.push_back({fmt::format("--set {}={}", key, given[k]), key, given[k]});
      apply_setting(choice.settings.back(), keys_of(recipe));
      values.push_back(values_of(recipe, {key}).front());
      if (std::find(varying.begin(), varying.end(), key) != varying.end())
        names.push_back(fmt::format("{}={}", shown_name(key, varying), for_file_name(values.back())));
    }
    check_input(known.insert(values).second,
                "{}: {} is given twice; a list is one value in [ ], as in model.hidden=[128,128]",
                swept.where, excerpt(fmt::format("{}", fmt::join(values, ":"))));
    choice.name = fmt::format("{}", fmt::join(names, "_"));
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
  std::vector<std::string> varying;  // keys; they are named in the folders
  for (const SweptSettings& it : swept)
    if (it.values.size() > 1) varying.insert(varying.end(), it.keys.begin(), it.keys.end());
  Recipe scratch = load_recipe(recipe);
  std::vector<std::vector<Choice>> axes;
  for (const SweptSettings& it : swept) axes.push_back(choices_of(it, varying, scratch));
  if (std::find(varying.begin(), varying.end(), seed_key) == varying.end()) {
    SweptSettings numbered{"--seeds", {seed_key}, {}};
    for (std::int64_t i = 0; i < seeds.value_or(1); ++i)
      numbered.values.push_back({fmt::format("{}", scratch.trainer.seed + i)});
    axes.push_back(choices_of(numbered, {seed_key}, scratch));
  } else {
    check_input(!seeds, "--seeds numbers the seeds from {} on, which has several values: give one of them",
                seed_key);
  }
  std::size_t count = 1;
  for (const std::vector<Choice>& axis : axes) {
    count *= axis.size();
    check_input(count <= most_runs, "these are more than {} runs: leave out some values or seeds", most_runs);
  }
  std::vector<SweepRun> runs(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> names;
    std::size_t same = count;  // successive runs that have the same choice
    for (const std::vector<Choice>& axis : axes) {
      same /= axis.size();
      const Choice& choice = axis[i / same % axis.size()];
      runs[i].settings.insert(runs[i].settings.end(), choice.settings.begin(), choice.settings.end());
      if (!choice.name.empty()) names.push_back(choice.name);
    }
    std::string& name = runs[i].name = fmt::format("{}", fmt::join(names, "_"));
    check_input(name.size() <= longest_file_name,
                "{}...: the name of the run's folder has {} bytes, and may have {}: shorten the values",
                name.substr(0, 40), name.size(), longest_file_name);
    try {
      runs[i].recipe = resolve_recipe(recipe, runs[i].settings);
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
  }
  return runs;
}

// --- Diagram ---

namespace {

/// The diagrams of a sweep in the making.
struct SweepDrawing {
  struct Row {
    std::map<std::string, std::string> values;  // of the keys
    Runs runs;                                  // which differ only in their seed

    double parameters() const { return static_cast<double>(runs.front()->parameters); }
  };

  explicit SweepDrawing(const Runs& runs)
      : recipe(runs.front()->recipe().name),
        score(decisive_score(runs.front()->recipe())),
        keys(differing_keys(runs)) {
    for (const auto& run : runs)
      check_input(run->recipe().name == recipe,
                  "{} and {} are of several recipes, {} and {}: a diagram is of one", runs.front()->path,
                  run->path, recipe, run->recipe().name);
    for (Runs& group : group_by_settings(runs)) {
      std::map<std::string, std::string> values = values_in(group.front()->recipe());
      rows.push_back({std::move(values), std::move(group)});
    }
  }

  /// Chooses what the x axis shows.
  void choose_x(const std::string& over) {
    std::vector<std::string> known{"parameters"};
    for (const std::string& key : keys)
      if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return number_at(row, key); }))
        known.push_back(key);
    check_input(over.empty() || std::find(known.begin(), known.end(), over) != known.end(),
                "--over {}: no key of numbers that the sweep varies{}", over, did_you_mean(over, known));
    x = !over.empty() ? over : known.size() == 2 ? known[1] : known[0];
    for (const std::string& key : known)
      if (key == x || (x == "parameters" && key != x && changes_parameters(key))) on_x.push_back(key);
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return x_of(a) < x_of(b); });
  }

  std::map<std::string, std::string> values_in(const Recipe& of) const {
    std::map<std::string, std::string> values;
    for (const std::string& key : keys) values[key] = values_of(of, {key}).front();
    return values;
  }
  std::optional<double> number_at(const Row& row, const std::string& key) const {
    return number_of(row.values.at(key));
  }
  double x_of(const Row& row) const { return x == "parameters" ? row.parameters() : *number_at(row, x); }
  /// The mean of the score; none: not measured.
  std::optional<Mean> mean(const Row& row, std::size_t kind) const {
    const std::optional<Mean> it = mean_score(row.runs, kind, score.key);
    return it && it->n > 0 ? it : std::nullopt;
  }

  /// The best row on the validation text; none if the rows have several vocabularies, which do not compare.
  const Row* best() const {
    const Row* found = nullptr;
    const RunRecord& first = *rows.front().runs.front();
    for (const Row& row : rows) {
      if (first.recipe().task->predicts_text() && row.runs.front()->types != first.types) return nullptr;
      const std::optional<Mean> its = mean(row, valid_kind);
      if (!its) continue;
      const double least = found ? mean(*found, valid_kind)->value : its->value;
      if (!found || (score.higher_is_better ? its->value > least : its->value < least)) found = &row;
    }
    return found;
  }
  /// The row with the settings of the built-in recipe itself, else the best.
  const Row* middle() const {
    for (const BuiltInRecipe& it : built_in_recipes()) {
      if (it.name != recipe) continue;
      const std::map<std::string, std::string> usual = values_in(load_recipe(recipe));
      for (const Row& row : rows)
        if (row.values == usual) return &row;
    }
    return best();
  }

  /// Whether the number of parameters depends on the key.
  bool changes_parameters(const std::string& key) const {
    const auto others = [&](const Row& row) {
      std::map<std::string, std::string> values = row.values;
      values.erase(key);
      return values;
    };
    for (const Row& a : rows)
      for (const Row& b : rows)
        if (others(a) == others(b) && a.parameters() != b.parameters()) return true;
    return false;
  }
  /// "hidden 96, layers 2": the values of a row, all or only those that the x axis does not show.
  std::string text_of(const Row& row, bool all) const {
    std::vector<std::string> texts;
    for (const std::string& key : keys)
      if (all || std::find(on_x.begin(), on_x.end(), key) == on_x.end())
        texts.push_back(fmt::format("{} {}", shown_name(key, keys), row.values.at(key)));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// The diagram of one text: a curve for each combination of the settings that the x axis does not show.
  Plot plot(std::size_t kind, double band) const {
    Plot plot{.title = fmt::format("{}: {} of the {} text", recipe, score.name,
                                   kind == valid_kind ? "validation" : "test"),
              .x = {.label = x},
              .y = {.label = score.name}};
    std::map<std::string, PlotCurve> curves;
    const Row* const best_row = best();
    for (const Row& row : rows) {
      const std::optional<Mean> its = mean(row, kind);
      if (!its) continue;
      PlotCurve& curve = curves[text_of(row, false)];
      if (best_row == &row) curve.ringed = curve.points.size();
      curve.points.push_back({x_of(row), its->value, its->deviation});
      if (plot.x.ticks.empty() || plot.x.ticks.back() != x_of(row)) plot.x.ticks.push_back(x_of(row));
    }
    if (curves.empty()) return plot;
    const double first = plot.x.ticks.front(), last = plot.x.ticks.back();
    plot.x.logarithmic = first > 0 && last >= 20 * first;
    constexpr std::size_t most_ticks = 8;  // that are the values of a key
    if (x == "parameters" || plot.x.ticks.size() > most_ticks) plot.x.ticks.clear();
    for (auto& [label, curve] : curves) {
      const bool has_seeds = std::any_of(curve.points.begin(), curve.points.end(),
                                         [](const PlotPoint& it) { return it.deviation > 0; });
      curve.label = !label.empty() ? label
                    : has_seeds    ? "mean and standard deviation over seeds"
                                   : "one seed";
      plot.curves.push_back(std::move(curve));
    }
    if (const Row* row = middle(); row && band > 0)
      if (const std::optional<Mean> its = mean(*row, kind))
        plot.levels.push_back({fmt::format("within {} of {}", band, text_of(*row, true)), its->value - band,
                               its->value + band});
    return plot;
  }

  std::string recipe;
  ScoreStyle score;                 // by which runs are compared
  std::vector<std::string> keys;    // that differ between the runs
  std::vector<Row> rows{};          // in the order of the x axis
  std::string x{};                  // a key, or "parameters"
  std::vector<std::string> on_x{};  // the keys whose values are points of one curve
};

}  // namespace

std::vector<Plot> plots_of_sweep(const Runs& runs, const SweepPlotOptions& options) {
  Runs finished;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(finished),
               [](const auto& run) { return run->finished; });
  std::vector<Plot> plots;
  if (finished.empty()) return plots;
  SweepDrawing drawing(finished);
  drawing.choose_x(options.over);
  for (const std::size_t kind : {valid_kind, test_kind}) {
    const double usual = drawing.score.key == "perplexity" ? default_band : 0;
    const Plot plot = drawing.plot(kind, options.band.value_or(usual));
    if (!plot.curves.empty()) plots.push_back(plot);
  }
  return plots;
}

void check_sweep_plot(const Runs& runs, const SweepPlotOptions& options) {
  SweepDrawing(runs).choose_x(options.over);
}

void write_sweep_plot(const std::string& option, const std::string& name, const Runs& runs,
                      const SweepPlotOptions& options) {
  const std::filesystem::path file = file_to_write(option, name);
  check_input(file.extension() == ".svg", "{} {}: it writes SVG; give a name that ends with .svg", option,
              name);
  const std::vector<Plot> plots = plots_of_sweep(runs, options);
  if (!plots.empty()) write_atomically(file, svg_of(plots));
}

}  // namespace rondo
