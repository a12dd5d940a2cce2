// The course of trainings as diagrams.
#include "lm/report/curves.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "lm/program/files.h"
#include "lm/program/log.h"
#include "lm/report/svg.h"
#include "tensor/error.h"

namespace rondo {

// --- Training curves ---

namespace {

constexpr std::size_t most_points = 600, most_dots = 25;  // of a curve
constexpr double training_width = 1.25;                   // of a line, in pixels
constexpr std::size_t smoothed_from = 20;                 // points; fewer are drawn as they are

/// A loss in this unit.
double converted(double nats, PublishedUnit unit) {
  return unit == PublishedUnit::perplexity ? std::exp(nats)
         : unit == PublishedUnit::bits     ? nats / std::numbers::ln2
                                           : nats;
}
double nats_of(double figure, PublishedUnit unit) {
  return unit == PublishedUnit::perplexity ? std::log(figure)
         : unit == PublishedUnit::bits     ? figure * std::numbers::ln2
                                           : figure;
}

/// The unit of the losses: that which was asked for, else the usual one of all runs, else nats.
PublishedUnit unit_of(const Runs& runs, const std::optional<PublishedUnit>& asked) {
  std::set<PublishedUnit> usual;
  for (const auto& run : runs) {
    const Recipe& recipe = run->recipe();
    check_input(!asked || asked == PublishedUnit::nats || recipe.task->predicts_text(),
                "--unit {}: {} is of the task {}, whose loss is in nats",
                name_of(asked.value_or(PublishedUnit())), run->path, recipe.task_name);
    usual.insert(!recipe.task->predicts_text()                     ? PublishedUnit::nats
                 : recipe.task->tokenization().unit == Unit::words ? PublishedUnit::perplexity
                                                                   : PublishedUnit::bits);
  }
  return asked.value_or(usual.size() == 1 ? *usual.begin() : PublishedUnit::nats);
}

/// The mean over the lines so far, whose weights fall exponentially into the past.
std::vector<PlotPoint> smoothed(const std::vector<PlotPoint>& points) {
  const double kept = 1 - 1 / std::max(1.0, static_cast<double>(points.size()) / 25);
  std::vector<PlotPoint> result;
  double sum = 0, weight = 0;
  for (const PlotPoint& it : points) {
    if (std::isfinite(it.y)) sum = kept * sum + it.y, weight = kept * weight + 1;
    result.push_back({it.x, weight > 0 ? sum / weight : it.y});
  }
  return result;
}

/// Means over neighbours, where there are more points than a diagram can show.
std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points) {
  const std::size_t group = (points.size() + most_points - 1) / most_points;
  if (group <= 1) return points;
  std::vector<PlotPoint> result;
  for (std::size_t i = 0; i < points.size(); i += group) {
    PlotPoint sum;
    double known = 0;
    for (std::size_t k = i; k < std::min(points.size(), i + group); ++k)
      if (std::isfinite(points[k].y)) sum.x += points[k].x, sum.y += points[k].y, ++known;
    if (known > 0) result.push_back({sum.x / known, sum.y / known});
  }
  return result;
}

struct CurveDrawing {
  CurveDrawing(const Runs& of, const CurveOptions& options)
      : runs(of), unit(unit_of(of, options.unit)), axis(options.x) {
    std::vector<std::string> paths;
    for (const auto& run : runs) paths.push_back(run->path);
    names = names_of_runs(paths);
  }

  double x_of(const LoggedMoment& it) const {
    return axis == CurveAxis::step    ? static_cast<double>(it.step)
           : axis == CurveAxis::epoch ? it.epochs
                                      : it.seconds / 60;
  }
  Plot empty_plot(const std::string& title, const std::string& label) const {
    const std::string along = axis == CurveAxis::step    ? "steps (updates)"
                              : axis == CurveAxis::epoch ? "epochs"
                                                         : "training time (minutes)";
    return {.title = title, .x = {.label = along, .from = 0}, .y = {.label = label}};
  }

  /// Adds `value` of each line of steps: as logged, pale, and smoothed, where they are `noisy`.
  template <class Value>
  void add_steps(Plot& plot, std::size_t run, const std::string& label, Value value,
                 bool noisy = true) const {
    std::vector<PlotPoint> points;
    for (const LoggedSteps& it : runs[run]->steps) points.push_back({x_of(it.when), value(it)});
    const bool smooths = noisy && points.size() >= smoothed_from;
    const PlotCurve raw{
        .label = label, .points = thinned(points), .dots = false, .colour = run, .width = training_width};
    plot.curves.push_back(raw);
    if (!smooths) return;
    PlotCurve& pale = plot.curves.back();
    pale.label = "", pale.width = 1, pale.opacity = 0.3;
    plot.curves.push_back(raw);
    plot.curves.back().points = thinned(smoothed(points));
  }
  template <class Value>
  Plot of_steps(const std::string& title, const std::string& label, Value value, bool noisy = true) const {
    Plot plot = empty_plot(title, label);
    for (std::size_t i = 0; i < runs.size(); ++i) add_steps(plot, i, names[i], value, noisy);
    return plot;
  }
  /// Adds `value` of each evaluation.
  template <class Value>
  void add_evaluations(Plot& plot, std::size_t run, Value value) const {
    PlotCurve curve{.label = names[run], .colour = run};
    for (const LoggedEvaluation& it : runs[run]->evaluations) {
      if (it.best && runs.size() == 1) curve.ringed = curve.points.size();
      curve.points.push_back({x_of(it.when), value(it)});
    }
    curve.dots = curve.points.size() <= most_dots;
    plot.curves.push_back(std::move(curve));
  }

  /// The first steps are far above all that follows: the diagram begins where the rest of it is legible.
  static void choose_range(Plot& plot) {
    double first = HUGE_VAL, last = -HUGE_VAL, low = HUGE_VAL, high = -HUGE_VAL;
    for (const PlotCurve& curve : plot.curves)
      for (const PlotPoint& it : curve.points) first = std::fmin(first, it.x), last = std::fmax(last, it.x);
    for (const PlotLevel& it : plot.levels) low = std::min(low, it.low), high = std::max(high, it.high);
    for (const PlotCurve& curve : plot.curves)
      for (const PlotPoint& it : curve.points) {
        if (!std::isfinite(it.y)) continue;
        low = std::min(low, it.y);
        const bool is_validation = curve.width > training_width;
        const bool counts = is_validation || (curve.opacity == 1 && it.x > first + (last - first) / 20);
        if (counts) high = std::max(high, it.y);
      }
    if (!(high > low)) return;
    plot.y.logarithmic = plot.y.label == "perplexity" && high > 4 * low;
    plot.y.to = plot.y.logarithmic ? high * std::pow(high / low, 0.04) : high + (high - low) / 25;
  }

  Plot loss() const {
    const auto has_symbols = [](const auto& run) { return run->recipe().task->predicts_text(); };
    const std::string per = std::all_of(runs.begin(), runs.end(), has_symbols) ? " per symbol" : "";
    const bool is_perplexity = unit == PublishedUnit::perplexity;
    Plot plot = empty_plot("", is_perplexity ? "perplexity" : "loss (" + name_of(unit) + per + ")");
    bool trains = false, evaluates = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      trains |= !runs[i]->steps.empty(), evaluates |= !runs[i]->evaluations.empty();
      add_steps(plot, i, "", [&](const LoggedSteps& it) { return converted(it.nats, unit); });
      add_evaluations(
          plot, i, [&](const LoggedEvaluation& it) { return converted(score_in(it.scores, "nats"), unit); });
      add_published(plot, i);
    }
    if (trains && evaluates) {
      const bool has_dots = std::any_of(plot.curves.begin(), plot.curves.end(),
                                        [](const PlotCurve& it) { return it.dots && it.points.size() > 1; });
      plot.curves.push_back(
          {.label = "training", .dots = false, .colour = no_colour, .width = training_width});
      plot.curves.push_back({.label = "validation", .dots = has_dots, .colour = no_colour});
    }
    plot.title = fmt::format("{} on the {} text", is_perplexity ? "Perplexity" : "Loss",
                             trains && evaluates ? "training and validation"
                             : trains            ? "training"
                                                 : "validation");
    choose_range(plot);
    return plot;
  }
  void add_published(Plot& plot, std::size_t i) const {
    const RunRecord& run = *runs[i];
    if (!run.recipe().task->predicts_text()) return;
    for (const std::size_t kind : {valid_kind, test_kind}) {
      const double figure = run.published(kind);
      if (figure <= 0) continue;
      const PublishedUnit its_unit = run.recipe().published.unit;
      const std::string label = fmt::format("published, {}: {} {} ({})", run.recipe().name, figure,
                                            name_of(its_unit), kinds_of_measurement[kind].name);
      const double y = converted(nats_of(figure, its_unit), unit);
      const bool is_there = std::any_of(plot.levels.begin(), plot.levels.end(),
                                        [&](const PlotLevel& level) { return level.label == label; });
      if (!is_there) plot.levels.push_back({label, y, y, runs.size() == 1 ? no_colour : i});
    }
  }

  Plot score(const std::string& key, const std::string& name) const {
    const bool is_share = key == "accuracy" || key == "cer" || key == "wer";
    Plot plot = empty_plot(name + " of the validation text", name + (is_share ? " (%)" : ""));
    for (std::size_t i = 0; i < runs.size(); ++i)
      add_evaluations(plot, i, [&](const LoggedEvaluation& it) { return score_in(it.scores, key); });
    return plot;
  }
  Plot learning_rate() const {
    const auto value = [](const LoggedSteps& it) { return it.learning_rate; };
    Plot plot = of_steps("Learning rate", "learning rate", value, false);
    double low = HUGE_VAL, high = 0;
    for (const PlotCurve& curve : plot.curves)
      for (const PlotPoint& it : curve.points) low = std::fmin(low, it.y), high = std::fmax(high, it.y);
    plot.y.logarithmic = low > 0 && high >= 20 * low;
    if (!plot.y.logarithmic) plot.y.from = 0;
    return plot;
  }
  Plot gradient_norm() const {
    Plot plot = of_steps("Norm of the gradients", "norm, before clipping",
                         [](const LoggedSteps& it) { return it.gradient_norm; });
    plot.y.logarithmic = true;
    return plot;
  }
  Plot speed() const {
    std::set<std::string> scored;
    for (const auto& run : runs)
      if (!run->steps.empty()) scored.insert(run->scored);
    Plot plot = of_steps("Speed", (scored.size() == 1 ? *scored.begin() : "scored items") + " per second",
                         [](const LoggedSteps& it) { return it.per_second; });
    plot.y.from = 0;
    return plot;
  }

  const Runs& runs;
  PublishedUnit unit;
  CurveAxis axis;
  std::vector<std::string> names{};
};

}  // namespace

std::vector<std::string> names_of_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(last_name(path));
  return std::set<std::string>(names.begin(), names.end()).size() == names.size() ? names : paths;
}

std::vector<std::pair<std::string, Plot>> curves_of(const Runs& runs, const CurveOptions& options) {
  const CurveDrawing drawing(runs, options);
  std::vector<std::pair<std::string, Plot>> plots{{"loss", drawing.loss()}};
  for (const ScoreStyle& it : styles_of(runs))
    if (!it.is_of_loss()) plots.emplace_back(it.key, drawing.score(it.key, it.name));
  plots.emplace_back("learning_rate", drawing.learning_rate());
  plots.emplace_back("gradient_norm", drawing.gradient_norm());
  plots.emplace_back("speed", drawing.speed());
  std::erase_if(plots, [](const auto& it) { return !has_points(it.second); });
  return plots;
}

std::vector<std::pair<std::string, std::string>> csv_of(const Runs& runs) {
  std::string training = "run,step,epochs,seconds,nats,learning_rate,gradient_norm,per_second\n",
              validation = "run,step,epochs,seconds,nats,best";
  std::vector<ScoreStyle> styles = styles_of(runs);
  std::erase_if(styles, [](const ScoreStyle& it) { return it.is_of_loss(); });
  for (const ScoreStyle& it : styles) validation += "," + it.key;
  validation += '\n';
  const auto line = [](const RunRecord& run, const LoggedMoment& when, const std::vector<double>& numbers) {
    std::string text = fmt::format("{},{}", csv_field(run.path), when.step);
    for (const double it : numbers) text += std::isfinite(it) ? fmt::format(",{}", it) : ",";
    return text + '\n';
  };
  for (const auto& run : runs) {
    for (const auto& [when, nats, learning_rate, gradient_norm, per_second] : run->steps)
      training +=
          line(*run, when, {when.epochs, when.seconds, nats, learning_rate, gradient_norm, per_second});
    for (const auto& [when, epoch, scores, best] : run->evaluations) {
      std::vector<double> numbers{when.epochs, when.seconds, score_in(scores, "nats"), best ? 1.0 : 0.0};
      for (const ScoreStyle& it : styles) numbers.push_back(score_in(scores, it.key));
      validation += line(*run, when, numbers);
    }
  }
  return {{"training.csv", training}, {"validation.csv", validation}};
}

// --- Probe pictures ---

namespace {

/// The names of a run and its layer in a legend; the layer's only where the run has several.
std::string legend_of(const ProbedRun& run, const ProbedLayer& layer) {
  const std::string name = last_name(run.run->path);
  return run.probed.layers.size() == 1 ? name : fmt::format("{} {}", name, layer.name);
}

/// Calls `use` with each layer of each run.
template <class Use>
void for_each_layer(const std::vector<ProbedRun>& runs, Use use) {
  for (const ProbedRun& run : runs)
    for (const ProbedLayer& layer : run.probed.layers) use(run, layer);
}

/// Names the loss if it is the same for all runs.
std::string gradient_title(const std::vector<ProbedRun>& runs) {
  const std::string& loss = runs.front().probed.loss;
  const bool is_same =
      std::all_of(runs.begin(), runs.end(), [&](const ProbedRun& run) { return run.probed.loss == loss; });
  return "Gradient of " + (is_same ? loss : "the loss");
}

/// A curve of values of `count` steps, from step `first` on.
template <class Value>
PlotCurve curve_of(const std::string& label, std::size_t first, std::size_t count, Value value) {
  PlotCurve curve{.label = label, .dots = false};
  for (std::size_t t = first; t < count; ++t) curve.points.push_back({static_cast<double>(t), value(t)});
  return curve;
}

Plot gradients_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = gradient_title(runs), .x = {.label = "step t"}, .y = {.label = "ln |dC/dh_t|"}};
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    const NormsByStep& norms = layer.gradients.at("h");
    plot.curves.push_back(curve_of(legend_of(run, layer), 0, norms.steps.size(),
                                   [&](std::size_t t) { return norms.mean_log(t); }));
  });
  return plot;
}

Plot epochs_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = gradient_title(runs) + ", training text",
            .x = {.label = "epochs"},
            .y = {.label = "ln |dC/dh_t|"}};
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    for (const std::size_t t : {0, 5, 10}) {  // as Figure 1 (a)
      PlotCurve curve{.label = fmt::format("{}, t = {}", legend_of(run, layer), t),
                      .dashed = &run != &runs.front()};
      for (const ProbeOfEpoch& probe : run.run->probes)
        for (const ProbedLayer& then : probe.probed.layers)
          if (const NormsByStep& norms = then.gradients.at("h");
              then.name == layer.name && t < norms.steps.size())
            curve.points.push_back({static_cast<double>(probe.epoch), norms.mean_log(t)});
      if (!run.run->probes.empty()) plot.curves.push_back(std::move(curve));
    }
  });
  return plot;
}

/// A histogram for each entry of `distributions` of a layer.
std::vector<Plot> histograms(const std::vector<ProbedRun>& runs,
                             std::map<std::string, Distribution> ProbedLayer::*distributions) {
  std::vector<Plot> plots;
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    for (const auto& [name, it] : layer.*distributions) {
      const double width = (it.to() - it.from()) / static_cast<double>(Distribution::bins);
      PlotCurve bars{.points = {{it.from(), 0}}, .dots = false, .filled = true};
      for (const std::int64_t count : it.counts()) {
        const double x = bars.points.back().x,
                     share = static_cast<double>(count) / static_cast<double>(it.count());
        bars.points.insert(bars.points.end(), {{x, share}, {x + width, share}});
      }
      bars.points.push_back({it.to(), 0});
      plots.push_back({.title = fmt::format("{}: {}, {} text", legend_of(run, layer), name, run.split),
                       .x = {.label = name},
                       .y = {.label = "share"},
                       .curves = {std::move(bars)}});
    }
  });
  return plots;
}

Plot products_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = "Products with weights, mean norm",
            .x = {.label = "step t"},
            .y = {.label = "norm", .logarithmic = true}};
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    for (const auto& [name, norms] : layer.products)
      plot.curves.push_back(curve_of(fmt::format("{}: {}", legend_of(run, layer), name), 1,
                                     norms.steps.size(),
                                     [&of = norms](std::size_t t) { return of.mean(t); }));
  });
  return plot;
}

Plot singular_values_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = "Singular values of recurrent weights",
            .x = {.label = "from the largest on, share of all"},
            .y = {.label = "singular value"}};
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    for (const auto& [name, values] : layer.singular_values) {
      PlotCurve curve = curve_of(fmt::format("{}: {}", legend_of(run, layer), name), 0, values.size(),
                                 [&of = values](std::size_t i) { return of[i]; });
      for (PlotPoint& it : curve.points) it.x /= static_cast<double>(values.size());
      plot.curves.push_back(std::move(curve));
    }
  });
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> pictures_of(const std::vector<ProbedRun>& runs) {
  std::vector<std::pair<std::string, std::string>> pictures;
  const auto add = [&](const std::string& name, const std::vector<Plot>& plots) {
    if (!plots.empty() && has_points(plots.front()))
      pictures.emplace_back(name + ".svg", svg_of(plots, std::min<std::size_t>(2, plots.size())));
  };
  add("gradients", {gradients_plot(runs)});
  add("gradients_by_epoch", {epochs_plot(runs)});
  add("activations", histograms(runs, &ProbedLayer::activations));
  add("gates", histograms(runs, &ProbedLayer::gates));
  add("products", {products_plot(runs)});
  add("singular_values", {singular_values_plot(runs)});
  return pictures;
}

}  // namespace rondo
