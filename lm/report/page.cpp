// Pictures of runs, and the page of them.
#include "lm/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <regex>
#include <set>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "lm/program/files.h"
#include "lm/program/log.h"
#include "lm/report/run_groups.h"
#include "tensor/error.h"

namespace rondo {

// --- Attention ---

void write_attention(const std::filesystem::path& file, std::vector<Alignment> alignments) {
  if (file.extension() == ".svg") {
    std::erase_if(alignments, [](const Alignment& it) { return it.source.empty(); });
    return write_atomically(file, svg_of(alignments));
  }
  std::string lines;
  for (const Alignment& it : alignments) {
    const nlohmann::ordered_json json{{"source", it.source}, {"target", it.target}, {"weights", it.weights}};
    lines += json.dump() + '\n';
  }
  write_atomically(file, lines);
}

// --- Training curves ---

std::vector<std::string> names_of_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(last_name(path));
  return std::set<std::string>(names.begin(), names.end()).size() == names.size() ? names : paths;
}

namespace {

constexpr double thin = 1.25;  // in pixels; curves of validation texts are thicker

/// Means over groups of neighbours, so that a curve has at most 200 points.
std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points) {
  const std::size_t group = points.size() / 200 + 1;
  std::vector<PlotPoint> result;
  for (std::size_t i = 0; i < points.size(); i += group) {
    PlotPoint sum;
    double known = 0;
    for (std::size_t k = i; k < std::min(points.size(), i + group); ++k)
      if (const PlotPoint& it = points[k]; std::isfinite(it.y))
        sum.x += it.x, sum.y += it.y, sum.deviation += it.deviation, ++known;
    if (known > 0) result.push_back({sum.x / known, sum.y / known, sum.deviation / known});
  }
  return result;
}

double converted(double nats, PublishedUnit unit) {
  return unit == PublishedUnit::perplexity ? std::exp(nats)
         : unit == PublishedUnit::bits     ? nats / std::numbers::ln2
                                           : nats;
}

/// Curves of runs. Seeds of one setting are one curve: their mean, as far as all of them go.
struct CurveDrawing {
  explicit CurveDrawing(const Runs& runs) : groups(grouped(runs)), unit(usual_unit(*runs[0]->recipe().task)) {
    std::vector<std::string> paths;
    for (const auto& run : runs)
      if (usual_unit(*run->recipe().task) != unit) unit = PublishedUnit::nats;
    for (const Runs& group : groups) paths.push_back(path_of(group));
    if (std::set<std::string>(paths.begin(), paths.end()).size() < paths.size())
      for (std::size_t i = 0; i < groups.size(); ++i) paths[i] = groups[i].front()->path;
    names = names_of_runs(paths);
    shorten(names);
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i].size() > 1) names[i] += fmt::format(", {} seeds", groups[i].size());
    if (runs.size() == 1) names[0].clear();  // a legend of one line says nothing
  }

  /// The path of a run; of several the first one's without "seed=N" or, if there is none, what all their
  /// paths begin with, but no part of a number and no "-" at its end.
  static std::string path_of(const Runs& group) {
    const std::filesystem::path path = group.front()->path;
    if (group.size() == 1) return path;
    static const std::regex seed("_seed=[0-9]+|seed=[0-9]+_?");
    const std::string name = path.filename(), without = std::regex_replace(name, seed, "");
    if (without != name && !path.parent_path().empty()) return path.parent_path() / without;
    std::string common = path;
    for (const auto& run : group)
      common.resize(static_cast<std::size_t>(std::ranges::mismatch(common, run->path).in1 - common.begin()));
    const auto goes_on_with_digit = [&](const auto& run) {
      const std::string& whole = run->path;
      return whole.size() > common.size() &&
             std::isdigit(static_cast<unsigned char>(whole[common.size()])) != 0;
    };
    if (std::ranges::all_of(group, goes_on_with_digit))
      common.erase(common.find_last_not_of("0123456789") + 1);
    common.erase(common.find_last_not_of("-_ /") + 1);
    return common.empty() ? path.string() : common;
  }

  /// Leaves out the words that all names begin with: "bn-lstm" of "attentive-reader-bn-lstm".
  static void shorten(std::vector<std::string>& names) {
    while (names.size() > 1) {
      const std::string word = names[0].substr(0, names[0].find_first_of("-=") + 1);
      for (const std::string& it : names)
        if (!word.ends_with('-') || !it.starts_with(word) || it[word.size()] < 'a') return;
      for (std::string& it : names) it.erase(0, word.size());
    }
  }

  Plot empty_plot(const std::string& title, const PlotAxis& y) const {
    return {.title = title, .x = {.label = "epochs", .whole = true}, .y = y};
  }
  /// The means of `value` over each line that all runs of a group have logged.
  template <class Line, class Value>
  static std::vector<PlotPoint> points_of(const Runs& group, std::vector<Line> RunRecord::*lines,
                                          Value value) {
    std::vector<PlotPoint> points;
    for (std::size_t i = 0;; ++i) {
      std::vector<double> values;
      for (const auto& run : group)
        if (i < (*run.*lines).size()) values.push_back(value((*run.*lines)[i]));
      if (values.size() < group.size()) return points;
      const Mean mean = mean_of(values);
      points.push_back({((*group.front()).*lines)[i].when.epochs, mean.value, mean.deviation});
    }
  }
  /// Adds `value` of each line of steps.
  template <class Value>
  void add_steps(Plot& plot, std::size_t group, const std::string& label, Value value) const {
    PlotCurve curve{.label = label, .dots = false, .shaded = true, .colour = group, .width = thin};
    curve.points = thinned(points_of(groups[group], &RunRecord::steps, value));
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  /// Adds `value` of each evaluation.
  template <class Value>
  void add_evaluations(Plot& plot, std::size_t group, Value value) const {
    constexpr std::size_t most_dots = 25;
    PlotCurve curve{.label = names[group], .shaded = true, .colour = group};
    curve.points = points_of(groups[group], &RunRecord::evaluations, value);
    curve.dots = curve.points.size() <= most_dots;
    if (groups.size() == 1 && groups[0].size() == 1)
      for (std::size_t i = 0; i < curve.points.size(); ++i)
        if (groups[0][0]->evaluations[i].best) curve.ringed = i;
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }

  Plot loss() const {
    const bool is_perplexity = unit == PublishedUnit::perplexity;
    Plot plot = empty_plot(is_perplexity ? "Perplexity" : "Loss",
                           {.label = is_perplexity ? "perplexity" : "loss (" + name_of(unit) + ")",
                            .logarithmic = is_perplexity});
    for (std::size_t i = 0; i < groups.size(); ++i) {
      add_steps(plot, i, groups[i].front()->evaluations.empty() ? names[i] : "",
                [&](const LoggedSteps& it) { return converted(it.nats, unit); });
      add_evaluations(
          plot, i, [&](const LoggedEvaluation& it) { return converted(score_in(it.scores, "nats"), unit); });
    }
    // The first steps are far above all that follows.
    double highest = 0;
    for (const PlotCurve& curve : plot.curves) {
      const bool is_long = curve.width == thin && curve.points.size() >= 20;
      for (std::size_t i = is_long ? curve.points.size() / 20 + 1 : 0; i < curve.points.size(); ++i)
        highest = std::fmax(highest, curve.points[i].y + curve.points[i].deviation);
    }
    if (std::isfinite(highest)) plot.y.to = 1.02 * highest;
    return plot;
  }
  Plot score(const ScoreStyle& style) const {
    const bool is_share = style.key == "accuracy" || style.key == "cer" || style.key == "wer";
    Plot plot =
        empty_plot("Validation text: " + style.name, {.label = style.name + (is_share ? " (%)" : "")});
    for (std::size_t i = 0; i < groups.size(); ++i)
      add_evaluations(plot, i, [&](const LoggedEvaluation& it) { return score_in(it.scores, style.key); });
    return plot;
  }
  Plot of_steps(const std::string& title, const PlotAxis& y, double LoggedSteps::*value) const {
    Plot plot = empty_plot(title, y);
    for (std::size_t i = 0; i < groups.size(); ++i)
      add_steps(plot, i, names[i], [&](const LoggedSteps& it) { return it.*value; });
    return plot;
  }

  const std::vector<Runs> groups;  // whose runs differ only in their seed
  PublishedUnit unit;              // the usual one of all runs, else nats
  std::vector<std::string> names{};
};

/// Draws the course of trainings; nothing of what no run has logged. Runs that differ in their seed alone are
/// one curve, which has one colour in all diagrams. A loss is a perplexity of words, bits of characters, else
/// nats.
///   loss, one for each score such as bleu or accuracy, learning_rate, gradient_norm
std::vector<Figure> curves_of(const Runs& runs) {
  const CurveDrawing drawing(runs);
  std::vector<Figure> figures;
  const auto add = [&](const std::string& name, const Plot& plot, const std::string& caption = "") {
    if (has_points(plot)) figures.push_back({name, svg_of(plot), caption});
  };
  add("loss", drawing.loss(),
      "Thin: training text. Thick: validation text. Ring: the best of a run alone. Seeds of one setting are "
      "one curve: mean and standard deviation, as far as all of them go.");
  for (const ScoreStyle& it : styles_of(runs))
    if (!it.is_of_loss()) add(it.key, drawing.score(it));
  add("learning_rate",
      drawing.of_steps("Learning rate", {.label = "learning rate", .from = 0}, &LoggedSteps::learning_rate));
  add("gradient_norm",
      drawing.of_steps("Norm of the gradients", {.label = "norm, before clipping", .logarithmic = true},
                       &LoggedSteps::gradient_norm));
  return figures;
}

// --- Probe pictures ---

/// The names of a run and its layer in a legend; the layer's only where the run has several.
std::string legend_of(const ProbedRun& run, const ProbedLayer& layer) {
  const std::string name = last_name(run.run->path);
  return run.probed.layers.size() == 1 ? name : fmt::format("{} {}", name, layer.name);
}

/// Names the loss if it is the same for all runs.
std::string gradient_title(const std::vector<ProbedRun>& runs) {
  const std::string& loss = runs.front().probed.loss;
  const bool is_same =
      std::ranges::all_of(runs, [&](const ProbedRun& run) { return run.probed.loss == loss; });
  return "Gradient of " + (is_same ? loss : "the loss");
}

Plot gradients_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = gradient_title(runs), .x = {.label = "step t"}, .y = {.label = "ln |dC/dh_t|"}};
  for (const ProbedRun& run : runs)
    for (const ProbedLayer& layer : run.probed.layers) {
      PlotCurve curve{.label = legend_of(run, layer), .dots = false};
      const NormsByStep& norms = layer.gradients.at("h");
      for (std::size_t t = 0; t < norms.steps.size(); ++t)
        curve.points.push_back({static_cast<double>(t), norms.mean_log(t)});
      plot.curves.push_back(std::move(curve));
    }
  return plot;
}

/// The gradients at some steps, of the probes in the logs, as in Figure 1 (a).
Plot epochs_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = gradient_title(runs) + ", training text",
            .x = {.label = "epochs", .whole = true},
            .y = {.label = "ln |dC/dh_t|"}};
  for (const ProbedRun& run : runs)
    for (std::size_t l = 0; l < run.probed.layers.size(); ++l)
      for (const std::size_t t : {0, 5, 10}) {
        PlotCurve curve{.label = fmt::format("{}, t = {}", legend_of(run, run.probed.layers[l]), t)};
        for (const ProbeOfEpoch& probe : run.run->probes)
          if (l < probe.probed.layers.size())
            if (const NormsByStep& norms = probe.probed.layers[l].gradients.at("h"); t < norms.steps.size())
              curve.points.push_back({static_cast<double>(probe.epoch), norms.mean_log(t)});
        if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
      }
  return plot;
}

/// A histogram for each entry of `distributions` of a layer.
std::vector<Plot> histograms(const std::vector<ProbedRun>& runs,
                             std::map<std::string, Distribution> ProbedLayer::*distributions) {
  std::vector<Plot> plots;
  for (const ProbedRun& run : runs)
    for (const ProbedLayer& layer : run.probed.layers)
      for (const auto& [name, it] : layer.*distributions) {
        const double width = (it.to() - it.from()) / static_cast<double>(Distribution::bins);
        PlotCurve bars{.points = {{it.from(), 0}}, .dots = false, .filled = true};
        for (const std::int64_t count : it.counts()) {
          const double x = bars.points.back().x;
          const double share = static_cast<double>(count) / static_cast<double>(it.count());
          bars.points.insert(bars.points.end(), {{x, share}, {x + width, share}});
        }
        bars.points.push_back({it.to(), 0});
        plots.push_back({.title = legend_of(run, layer),
                         .x = {.label = fmt::format("{}, {} text", name, run.split)},
                         .y = {.label = "share", .from = 0},
                         .curves = {std::move(bars)}});
      }
  return plots;
}

}  // namespace

std::vector<Figure> pictures_of(const std::vector<ProbedRun>& runs) {
  std::vector<Figure> figures;
  if (runs.empty()) return figures;
  const auto add = [&](const std::string& name, const std::vector<Plot>& plots) {
    if (!plots.empty() && has_points(plots.front()))
      figures.push_back({name, svg_of(plots, std::min<std::size_t>(2, plots.size()))});
  };
  add("gradients", {gradients_plot(runs)});
  add("gradients_by_epoch", {epochs_plot(runs)});
  add("activations", histograms(runs, &ProbedLayer::activations));
  add("gates", histograms(runs, &ProbedLayer::gates));
  return figures;
}

std::vector<Figure> figures_of(const Runs& runs) {
  std::vector<Figure> figures = curves_of(runs);
  std::vector<ProbedRun> probed;
  for (const auto& run : runs)
    if (!run->probes.empty()) probed.push_back({run, "train", run->probes.back().probed});
  for (Figure& it : pictures_of(probed)) figures.push_back(std::move(it));
  return figures;
}

void write_pictures(const std::string& option, const std::string& folder,
                    const std::vector<Figure>& figures) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check(!error, "{} {}: cannot make the folder: {}", option, folder, error.message());
  for (const Figure& it : figures)
    write_atomically(file_to_write(option, fmt::format("{}/{}.svg", folder, it.name)), it.svg);
}

// --- Plot page ---

namespace {

/// Diagrams take the page's colour of text.
constexpr const char* style = R"(
:root { color-scheme: light dark; --page: #ffffff; --ink: #2f2f2f; --soft: #6a6a6a; --rule: #dcdcdc; }
@media (prefers-color-scheme: dark) {
  :root { --page: #16181b; --ink: #d6d6d6; --soft: #9a9a9a; --rule: #3a3d41; }
}
body { margin: 0 auto; max-width: 84rem; padding: 1.5rem 1rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 sans-serif; }
h1 { font-size: 1.35rem; margin: 0 0 0.5rem; overflow-wrap: anywhere; }
p { margin: 0.25rem 0; color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); gap: 1.5rem; }
figure { margin: 0; min-width: 0; overflow-x: auto; }
figure > svg { display: block; width: 100%; height: auto; fill: var(--ink); }
figcaption { color: var(--soft); font-size: 0.85rem; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
td { padding: 0.25rem 0.7rem; text-align: right; white-space: nowrap; border-top: 1px solid var(--rule); }
tr:first-child { font-weight: 600; }
td:first-child { text-align: left; }
@media print { figure { break-inside: avoid; } }
)";

}  // namespace

std::string html_of(const Runs& runs, const std::string& title, const std::vector<Figure>& figures) {
  const RunRecord& first = *runs.front();
  const bool are_comparable = std::ranges::all_of(runs, [&](const auto& run) {
    return run->vocabulary_size == first.vocabulary_size &&
           is_same_data(first.config.made_by.sha256, run->config.made_by.sha256);
  });
  const char* const note = !are_comparable
                               ? "These runs differ in text or vocabulary: their losses cannot be compared."
                           : figures.empty() ? "Nothing has been logged yet."
                                             : "";
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'/>\n"
      "<meta name='viewport' content='width=device-width, initial-scale=1'/>\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p>{2}</p>\n"
      "<div class='table'>\n{3}</div>\n<div class='figures'>\n",
      svg_escaped(title), style, note, html_of(table_of(runs)));
  for (const Figure& it : figures)
    html += fmt::format("<figure id='{}'>\n{}<figcaption>{}</figcaption>\n</figure>\n", it.name, it.svg,
                        svg_escaped(it.caption));
  return html + "</div>\n</body>\n</html>\n";
}

}  // namespace rondo
