// The course of trainings as diagrams.
#include "lm/program/training_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <numbers>
#include <set>

#include "lm/program/paths.h"
#include "lm/program/text_table.h"
#include "tensor/error.h"

namespace rondo {
namespace {

constexpr std::size_t most_points = 600, most_dots = 25;  // of a curve
constexpr double training_width = 1.25;                   // of a line, in pixels
constexpr std::size_t smoothed_from = 20;                 // points; fewer are drawn as they are

double nats_of(double figure, PublishedUnit unit) {
  return unit == PublishedUnit::perplexity ? std::log(figure)
         : unit == PublishedUnit::bits     ? figure * std::numbers::ln2
                                           : figure;
}

PublishedUnit usual_unit(const Recipe& recipe) {
  if (!has_perplexity(recipe.kind)) return PublishedUnit::nats;
  return tokenization_of(recipe).unit == Unit::words ? PublishedUnit::perplexity : PublishedUnit::bits;
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
    const std::size_t end = std::min(points.size(), i + group);
    PlotPoint sum;
    double known = 0;
    for (std::size_t k = i; k < end; ++k)
      if (std::isfinite(points[k].y)) sum.x += points[k].x, sum.y += points[k].y, ++known;
    if (known > 0) result.push_back({sum.x / known, sum.y / known});
  }
  return result;
}

struct CurveDrawing {
  CurveDrawing(const std::vector<PlottedRun>& of, const CurveOptions& options)
      : runs(of), unit(unit_of(of, options.unit)), axis(options.x) {
    std::vector<std::string> paths;
    for (const PlottedRun& run : runs) paths.push_back(run.measured.run);
    names = names_of_runs(paths);
    if (axis != CurveAxis::time) return;
    double longest = 0;
    for (const PlottedRun& run : runs) {
      for (const LoggedSteps& it : run.history.steps) longest = std::fmax(longest, it.when.seconds);
      for (const LoggedEvaluation& it : run.history.evaluations)
        longest = std::fmax(longest, it.when.seconds);
    }
    if (longest > 2 * 60) seconds_per_unit = 60, time_unit = "minutes";
    if (longest > 2 * 3600) seconds_per_unit = 3600, time_unit = "hours";
  }

  double x_of(const LoggedMoment& it) const {
    return axis == CurveAxis::step    ? static_cast<double>(it.step)
           : axis == CurveAxis::epoch ? it.epochs
                                      : it.seconds / seconds_per_unit;
  }
  PlotAxis x_axis() const {
    return {.label = axis == CurveAxis::step    ? "steps (updates)"
                     : axis == CurveAxis::epoch ? "epochs"
                                                : "training time (" + time_unit + ")",
            .from = 0};
  }

  /// `value` of each line of steps.
  template <class Value>
  std::vector<PlotPoint> step_points(const PlottedRun& run, Value value) const {
    std::vector<PlotPoint> points;
    for (const LoggedSteps& it : run.history.steps) points.push_back({x_of(it.when), value(it)});
    return points;
  }
  template <class Value>
  PlotCurve evaluation_curve(const PlottedRun& run, std::size_t colour, Value value) const {
    PlotCurve curve{.label = names[colour], .colour = colour};
    for (const LoggedEvaluation& it : run.history.evaluations) {
      if (it.best && runs.size() == 1) curve.ringed = curve.points.size();
      curve.points.push_back({x_of(it.when), value(it)});
    }
    curve.dots = curve.points.size() <= most_dots;
    return curve;
  }
  /// As logged, pale, and smoothed.
  void add_steps(Plot& plot, std::vector<PlotPoint> points, const std::string& label,
                 std::size_t colour) const {
    const bool smooths = points.size() >= smoothed_from;
    PlotCurve raw{.label = smooths ? "" : label,
                  .points = thinned(points),
                  .dots = false,
                  .colour = colour,
                  .width = smooths ? 1 : training_width,
                  .opacity = smooths ? 0.3 : 1};
    plot.curves.push_back(std::move(raw));
    if (smooths)
      plot.curves.push_back({.label = label,
                             .points = thinned(smoothed(points)),
                             .dots = false,
                             .colour = colour,
                             .width = training_width});
  }

  /// The first steps are far above all that follows: the diagram begins where the rest of it is legible.
  static void choose_range(Plot& plot) {
    double first = HUGE_VAL, last = -HUGE_VAL, low = HUGE_VAL, high = -HUGE_VAL;
    for (const PlotCurve& curve : plot.curves)
      for (const PlotPoint& it : curve.points) first = std::fmin(first, it.x), last = std::fmax(last, it.x);
    for (const PlotLevel& it : plot.levels) low = std::min(low, it.y), high = std::max(high, it.y);
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
    Plot plot{.x = x_axis(), .y = {.label = loss_label(runs, unit)}};
    bool trains = false, evaluates = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto value = [&](const auto& it) { return converted(it.nats, unit); };
      const PlottedRun& run = runs[i];
      trains |= !run.history.steps.empty(), evaluates |= !run.history.evaluations.empty();
      add_steps(plot, step_points(run, value), "", i);
      plot.curves.push_back(evaluation_curve(run, i, value));
      add_published(plot, run, i);
    }
    if (trains && evaluates) {
      const bool has_dots = std::any_of(plot.curves.begin(), plot.curves.end(),
                                        [](const PlotCurve& it) { return it.dots && it.points.size() > 1; });
      plot.curves.push_back(
          {.label = "training", .dots = false, .colour = no_colour, .width = training_width});
      plot.curves.push_back({.label = "validation", .dots = has_dots, .colour = no_colour});
    }
    plot.title = fmt::format("{} on the {} text", unit == PublishedUnit::perplexity ? "Perplexity" : "Loss",
                             trains && evaluates ? "training and validation"
                             : trains            ? "training"
                                                 : "validation");
    choose_range(plot);
    return plot;
  }
  void add_published(Plot& plot, const PlottedRun& run, std::size_t colour) const {
    const MeasuredRun& of = run.measured;
    if (!has_perplexity(of.recipe().kind)) return;
    for (const std::size_t kind : {valid_kind, test_kind}) {
      const MeasurementKind& it = kinds_of_measurement[kind];
      const double figure = of.published(it, of.measured[kind]);
      if (figure <= 0) continue;
      const std::string label = fmt::format("published, {}: {} {} ({})", of.recipe().name, figure,
                                            name_of(of.recipe().published.unit), it.name);
      const double y = converted(nats_of(figure, of.recipe().published.unit), unit);
      const bool is_there = std::any_of(plot.levels.begin(), plot.levels.end(),
                                        [&](const PlotLevel& level) { return level.label == label; });
      if (!is_there) plot.levels.push_back({label, y, runs.size() == 1 ? no_colour : colour});
    }
  }

  Plot score(const std::string& key, const std::string& name) const {
    Plot plot{.title = name + " of the validation text", .x = x_axis(), .y = {.label = name}};
    const bool is_share = key == "accuracy" || key == "cer" || key == "wer";
    if (is_share) plot.y.label += " (%)";
    for (std::size_t i = 0; i < runs.size(); ++i)
      plot.curves.push_back(evaluation_curve(runs[i], i, [&](const LoggedEvaluation& it) {
        const auto found = it.scores.find(key);
        return found == it.scores.end() ? std::nan("") : found->second;
      }));
    return plot;
  }

  template <class Value>
  Plot of_steps(const std::string& title, const std::string& label, Value value) const {
    Plot plot{.title = title, .x = x_axis(), .y = {.label = label}};
    for (std::size_t i = 0; i < runs.size(); ++i) add_steps(plot, step_points(runs[i], value), names[i], i);
    return plot;
  }
  Plot learning_rate() const {
    Plot plot{.title = "Learning rate", .x = x_axis(), .y = {.label = "learning rate"}};
    double low = HUGE_VAL, high = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      PlotCurve curve{.label = names[i], .dots = runs[i].history.steps.size() == 1, .colour = i};
      for (const LoggedSteps& it : runs[i].history.steps) {
        curve.points.push_back({x_of(it.when), it.learning_rate});
        low = std::fmin(low, it.learning_rate), high = std::fmax(high, it.learning_rate);
      }
      curve.points = thinned(curve.points);
      plot.curves.push_back(std::move(curve));
    }
    if (low > 0 && high >= 20 * low)
      plot.y.logarithmic = true;
    else
      plot.y.from = 0;
    return plot;
  }
  Plot gradient_norm() const {
    Plot plot = of_steps("Norm of the gradients", "norm, before clipping",
                         [](const LoggedSteps& it) { return it.gradient_norm; });
    plot.y.logarithmic = true;
    return plot;
  }
  Plot speed() const {
    const auto& scored = runs.front().history.scored;
    const bool is_common = std::all_of(runs.begin(), runs.end(), [&](const PlottedRun& run) {
      return run.history.steps.empty() || run.history.scored == scored;
    });
    Plot plot = of_steps("Speed", (is_common ? scored : "scored items") + " per second",
                         [](const LoggedSteps& it) { return it.per_second; });
    plot.y.from = 0;
    return plot;
  }

  const std::vector<PlottedRun>& runs;
  PublishedUnit unit;
  CurveAxis axis;
  double seconds_per_unit = 1;
  std::string time_unit = "seconds";
  std::vector<std::string> names{};
};

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

}  // namespace

double converted(double nats, PublishedUnit unit) {
  return unit == PublishedUnit::perplexity ? std::exp(nats)
         : unit == PublishedUnit::bits     ? nats / std::numbers::ln2
                                           : nats;
}

PublishedUnit unit_of(const std::vector<PlottedRun>& runs, const std::optional<PublishedUnit>& asked) {
  const auto recipe = [](const PlottedRun& run) -> const Recipe& { return run.measured.recipe(); };
  for (const PlottedRun& run : runs)
    if (asked && asked != PublishedUnit::nats && !has_perplexity(recipe(run).kind))
      throw InputError(fmt::format("--unit {}: {} is of the task {}, whose loss is in nats", name_of(*asked),
                                   run.measured.run, name_of(recipe(run).kind)));
  const PublishedUnit first = usual_unit(recipe(runs.front()));
  const bool is_common = std::all_of(runs.begin(), runs.end(),
                                     [&](const PlottedRun& run) { return usual_unit(recipe(run)) == first; });
  return asked.value_or(is_common ? first : PublishedUnit::nats);
}

std::string loss_label(const std::vector<PlottedRun>& runs, PublishedUnit unit) {
  const std::string per =
      std::all_of(runs.begin(), runs.end(),
                  [](const PlottedRun& run) { return has_perplexity(run.measured.recipe().kind); })
          ? " per symbol"
          : "";
  return unit == PublishedUnit::perplexity ? "perplexity" : "loss (" + name_of(unit) + per + ")";
}

PlottedRun plotted_run(MeasuredRun run) {
  TrainingHistory history = training_history({run.run});
  return {std::move(run), std::move(history)};
}

std::vector<std::string> names_of_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(last_name(path));
  return std::set<std::string>(names.begin(), names.end()).size() == names.size() ? names : paths;
}

std::vector<std::pair<std::string, Plot>> curves_of(const std::vector<PlottedRun>& runs,
                                                    const CurveOptions& options) {
  const CurveDrawing drawing(runs, options);
  std::vector<std::pair<std::string, Plot>> plots;
  const auto add = [&](const std::string& name, const Plot& plot) {
    if (has_points(plot)) plots.emplace_back(name, plot);
  };
  add("loss", drawing.loss());
  for (const auto& [key, name] : task_scores) add(key, drawing.score(key, name));
  add("learning_rate", drawing.learning_rate());
  add("gradient_norm", drawing.gradient_norm());
  add("speed", drawing.speed());
  return plots;
}

std::vector<std::pair<std::string, std::string>> csv_of(const std::vector<PlottedRun>& runs) {
  std::string training = "run,step,epochs,seconds,nats,learning_rate,gradient_norm,per_second\n",
              validation = "run,step,epochs,seconds,nats,best";
  for (const auto& [key, name] : task_scores) validation += "," + key;
  validation += '\n';
  const auto when = [](const PlottedRun& run, const LoggedMoment& it) {
    return fmt::format("{},{},{},{}", csv_field(run.measured.run), it.step, csv_number(it.epochs),
                       csv_number(it.seconds));
  };
  for (const PlottedRun& run : runs) {
    for (const LoggedSteps& it : run.history.steps)
      training +=
          fmt::format("{},{},{},{},{}\n", when(run, it.when), csv_number(it.nats),
                      csv_number(it.learning_rate), csv_number(it.gradient_norm), csv_number(it.per_second));
    for (const LoggedEvaluation& it : run.history.evaluations) {
      validation += fmt::format("{},{},{}", when(run, it.when), csv_number(it.nats), it.best ? 1 : 0);
      for (const auto& [key, name] : task_scores) {
        const auto found = it.scores.find(key);
        validation += "," + (found == it.scores.end() ? "" : csv_number(found->second));
      }
      validation += '\n';
    }
  }
  return {{"training.csv", training}, {"validation.csv", validation}};
}

}  // namespace rondo
