// The losses of runs by position and by the frequency of the symbol.
#include "lm/program/loss_band_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/symbols.h"
#include "lm/program/text_table.h"

namespace rondo {
namespace {

/// What one curve shows.
struct BandCurve {
  std::string label;
  const LossBreakdown* of;
};

bool is_empty(const LossBreakdown& it) {
  return it.by_position.empty() && it.by_frequency.known.empty() && !it.by_frequency.unknown;
}

std::vector<BandCurve> band_curves_of(const std::vector<PlottedRun>& runs) {
  std::vector<std::string> paths;
  for (const PlottedRun& run : runs) paths.push_back(run.measured.run);
  const std::vector<std::string> names = names_of_runs(paths);
  std::vector<BandCurve> curves;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t before = curves.size();
    for (const char* split : {"test", "valid"}) {
      for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) {
        const MeasurementKind& kind = kinds_of_measurement[k];
        const std::optional<Measured>& it = runs[i].measured.measured[k];
        if (kind.split != split || !it || is_empty(it->breakdown)) continue;
        const std::string label = runs.size() == 1 ? kind.name : fmt::format("{}: {}", names[i], kind.name);
        curves.push_back({label, &it->breakdown});
      }
      if (curves.size() > before) break;
    }
  }
  return curves;
}

/// The middle of a band on a logarithmic axis.
double middle_of(const LossBand& it) {
  return std::sqrt(static_cast<double>(it.from) * static_cast<double>(it.to));
}

/// A level for symbols that have no place on the axis.
void add_level(Plot& plot, const std::string& label, const LossSum& loss, PublishedUnit unit,
               std::size_t colour) {
  if (const double y = converted(loss.nats(), unit); std::isfinite(y))
    plot.levels.push_back({label, y, colour});
}

/// The loss and the number of symbols; `bands` gives those of a curve.
template <class Bands>
std::vector<Plot> plots_over(const std::string& title, const PlotAxis& x, const std::string& loss_label,
                             PublishedUnit unit, const std::vector<BandCurve>& curves, Bands bands) {
  Plot loss{.title = title, .x = x, .y = {.label = loss_label}};
  Plot number{.title = "Number of symbols", .x = x, .y = {.label = "symbols", .logarithmic = true}};
  double low = HUGE_VAL, high = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const PlotCurve empty{.label = curves[i].label, .colour = i};
    PlotCurve losses = empty, numbers = empty;
    for (const LossBand& it : bands(*curves[i].of)) {
      const double y = converted(it.loss.nats(), unit);
      low = std::fmin(low, y), high = std::fmax(high, y);
      losses.points.push_back({middle_of(it), y});
      numbers.points.push_back({middle_of(it), static_cast<double>(it.loss.symbols)});
    }
    loss.curves.push_back(std::move(losses)), number.curves.push_back(std::move(numbers));
  }
  loss.y.logarithmic = unit == PublishedUnit::perplexity && high > 4 * low;
  return {std::move(loss), std::move(number)};
}

}  // namespace

std::vector<std::pair<std::string, std::vector<Plot>>> loss_band_plots_of(const std::vector<PlottedRun>& runs,
                                                                          const CurveOptions& options) {
  std::vector<std::pair<std::string, std::vector<Plot>>> figures;
  const std::vector<BandCurve> curves = band_curves_of(runs);
  if (curves.empty()) return figures;
  const PublishedUnit unit = unit_of(runs, options.unit);
  const std::string label = loss_label(runs, unit);
  const auto add = [&](const std::string& name, std::vector<Plot> plots) {
    if (has_points(plots.front())) figures.emplace_back(name, std::move(plots));
  };
  add("loss_by_position",
      plots_over("Loss by position",
                 {.label = "position (symbols since the initial state)", .logarithmic = true}, label, unit,
                 curves, [](const LossBreakdown& it) { return it.by_position; }));
  std::vector<Plot> by_frequency =
      plots_over("Loss by frequency", {.label = "occurrences in the training text", .logarithmic = true},
                 label, unit, curves, [](const LossBreakdown& it) { return it.by_frequency.known; });
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const auto& [known, unknown] = curves[i].of->by_frequency;
    const std::string of = curves.size() == 1 ? "" : curves[i].label + ", ";
    if (!known.empty() && known.front().to == 0)
      add_level(by_frequency.front(), of + "not in the training text", known.front().loss, unit, i);
    if (unknown) add_level(by_frequency.front(), fmt::format("{}{}", of, unknown_symbol), *unknown, unit, i);
  }
  add("loss_by_frequency", std::move(by_frequency));
  return figures;
}

std::vector<std::pair<std::string, std::string>> loss_band_csv_of(const std::vector<PlottedRun>& runs) {
  std::string positions = "run,text,from,to,symbols,nats\n",
              frequencies = "run,text,unknown,from,to,symbols,nats\n";
  bool any = false;
  const auto loss = [](const LossSum& it) {
    return fmt::format("{},{}\n", it.symbols, std::isfinite(it.nats()) ? fmt::format("{}", it.nats()) : "");
  };
  for (const PlottedRun& run : runs)
    for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) {
      const std::optional<Measured>& it = run.measured.measured[k];
      if (!it || is_empty(it->breakdown)) continue;
      any = true;
      const std::string row = csv_field(run.measured.run) + "," + kinds_of_measurement[k].name;
      const auto& [by_position, by_frequency] = it->breakdown;
      for (const LossBand& band : by_position)
        positions += fmt::format("{},{},{},{}", row, band.from, band.to, loss(band.loss));
      for (const LossBand& band : by_frequency.known)
        frequencies += fmt::format("{},0,{},{},{}", row, band.from, band.to, loss(band.loss));
      if (by_frequency.unknown) frequencies += fmt::format("{},1,,,{}", row, loss(*by_frequency.unknown));
    }
  if (!any) return {};
  return {{"loss_by_position.csv", positions}, {"loss_by_frequency.csv", frequencies}};
}

}  // namespace rondo
