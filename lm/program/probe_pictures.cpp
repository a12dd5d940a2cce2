// Pictures of probes.
#include "lm/program/probe_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lm/program/svg_plot.h"

namespace rondo {
namespace {

/// The name of a run in a legend: that of its folder.
std::string short_name(const ProbedRun& run) {
  const std::filesystem::path path(run.run);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

/// Of a run's layer; the layer's name only where the run has several.
std::string legend_of(const ProbedRun& run, const ProbedLayer& layer) {
  return run.probed.layers.size() == 1 ? short_name(run) : fmt::format("{} {}", short_name(run), layer.name);
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

Plot gradients_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = gradient_title(runs), .x = {.label = "step t"}, .y = {.label = "ln |dC/dh_t|"}};
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    PlotCurve curve{.label = legend_of(run, layer), .dots = false};
    const NormsByStep& norms = layer.gradients.at("h");
    for (std::size_t t = 0; t < norms.steps.size(); ++t)
      curve.points.push_back({static_cast<double>(t), norms.mean_log(t)});
    plot.curves.push_back(std::move(curve));
  });
  return plot;
}

Plot epochs_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = gradient_title(runs) + ", training text",
            .x = {.label = "epochs"},
            .y = {.label = "ln |dC/dh_t|"}};
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    const auto history = run.history.gradients.find(layer.name);
    if (history == run.history.gradients.end()) return;
    for (const std::size_t t : {0, 5, 10}) {  // as Figure 1 (a)
      PlotCurve curve{.label = fmt::format("{}, t = {}", legend_of(run, layer), t),
                      .dashed = &run != &runs.front()};
      for (const auto& [epoch, log_norms] : history->second)
        if (t < log_norms.size()) curve.points.push_back({static_cast<double>(epoch), log_norms[t]});
      plot.curves.push_back(std::move(curve));
    }
  });
  return plot;
}

Plot validation_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{
      .title = "Validation text", .x = {.label = "epochs"}, .y = {.label = runs.front().history.figure}};
  for (const ProbedRun& run : runs) {
    if (run.history.figure != runs.front().history.figure) continue;
    PlotCurve curve{.label = short_name(run)};
    for (const auto& [epoch, figure] : run.history.evaluations) curve.points.push_back({epoch, figure});
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  return plot;
}

/// A histogram for each entry of `distributions(layer)`.
template <class Distributions>
std::vector<Plot> histograms(const std::vector<ProbedRun>& runs, Distributions distributions) {
  std::vector<Plot> plots;
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    for (const auto& [name, it] : distributions(layer)) {
      PlotBars bars;
      for (std::int64_t i = 0; i <= Distribution::bins; ++i)
        bars.edges.push_back(it.from() + (it.to() - it.from()) * static_cast<double>(i) /
                                             static_cast<double>(Distribution::bins));
      for (const std::int64_t count : it.counts())
        bars.heights.push_back(static_cast<double>(count) / static_cast<double>(it.count()));
      plots.push_back({.title = fmt::format("{}: {}, {} text", legend_of(run, layer), name, run.split),
                       .x = {.label = name},
                       .y = {.label = "share"},
                       .bars = {std::move(bars)}});
    }
  });
  return plots;
}

Plot products_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = "Products with weights, mean norm",
            .x = {.label = "step t"},
            .y = {.label = "norm", .logarithmic = true}};
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    for (const auto& [name, norms] : layer.products) {
      PlotCurve curve{.label = fmt::format("{}: {}", legend_of(run, layer), name), .dots = false};
      for (std::size_t t = 1; t < norms.steps.size(); ++t)
        curve.points.push_back({static_cast<double>(t), norms.mean(t)});
      plot.curves.push_back(std::move(curve));
    }
  });
  return plot;
}

Plot singular_values_plot(const std::vector<ProbedRun>& runs) {
  Plot plot{.title = "Singular values of recurrent weights",
            .x = {.label = "from the largest on, share of all"},
            .y = {.label = "singular value"}};
  for_each_layer(runs, [&](const ProbedRun& run, const ProbedLayer& layer) {
    for (const auto& [name, values] : layer.singular_values) {
      PlotCurve curve{.label = fmt::format("{}: {}", legend_of(run, layer), name), .dots = false};
      for (std::size_t i = 0; i < values.size(); ++i)
        curve.points.push_back({static_cast<double>(i) / static_cast<double>(values.size()), values[i]});
      plot.curves.push_back(std::move(curve));
    }
  });
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> pictures_of(const std::vector<ProbedRun>& runs) {
  std::vector<std::pair<std::string, std::string>> pictures;
  const auto add = [&](const std::string& name, const Plot& plot) {
    if (has_points(plot)) pictures.emplace_back(name, svg_of(plot));
  };
  const auto add_all = [&](const std::string& name, const std::vector<Plot>& plots) {
    if (!plots.empty()) pictures.emplace_back(name, svg_of(plots, std::min<std::size_t>(2, plots.size())));
  };
  add("gradients.svg", gradients_plot(runs));
  add("gradients_by_epoch.svg", epochs_plot(runs));
  add("validation.svg", validation_plot(runs));
  add_all("activations.svg", histograms(runs, [](const ProbedLayer& it) { return it.activations; }));
  add_all("gates.svg", histograms(runs, [](const ProbedLayer& it) { return it.gates; }));
  add("products.svg", products_plot(runs));
  add("singular_values.svg", singular_values_plot(runs));
  return pictures;
}

}  // namespace rondo
