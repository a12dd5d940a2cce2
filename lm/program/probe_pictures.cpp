// Pictures of probes.
#include "lm/program/probe_pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "lm/program/paths.h"
#include "lm/program/svg.h"

namespace rondo {
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

/// The score that the validation plot shows of a run; empty if there is none.
std::string validation_score(const ProbedRun& run) {
  std::string found;
  for (const char* key : {"bits", "accuracy", "bleu", "cer"})
    if (run.run->last_evaluation().scores.contains(key)) found = key;
  return found;
}

Plot validation_plot(const std::vector<ProbedRun>& runs) {
  const std::string score = validation_score(runs.front());
  Plot plot{.title = "Validation text", .x = {.label = "epochs"}, .y = {.label = score}};
  for (const ProbedRun& run : runs) {
    if (score.empty() || validation_score(run) != score) continue;
    PlotCurve curve{.label = last_name(run.run->path)};
    for (const LoggedEvaluation& it : run.run->evaluations)
      curve.points.push_back({static_cast<double>(it.epoch), score_in(it.scores, score)});
    plot.curves.push_back(std::move(curve));
  }
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
  add("validation", {validation_plot(runs)});
  add("activations", histograms(runs, &ProbedLayer::activations));
  add("gates", histograms(runs, &ProbedLayer::gates));
  add("products", {products_plot(runs)});
  add("singular_values", {singular_values_plot(runs)});
  return pictures;
}

}  // namespace rondo
