// Pictures as SVG documents: curves with error bars, histograms, and heat maps. They need no other file and
// no script, and can be read on a light and on a dark page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/tasks/task.h"

namespace rondo {

struct PlotAxis {
  std::string label{};
  bool logarithmic = false;            // then values of 0 and below are not drawn
  std::optional<double> from{}, to{};  // none: as the values need
  bool whole = false;                  // has ticks at whole numbers alone, if there are several
  std::vector<double> ticks{};         // none: round numbers
  std::vector<std::string> names{};    // of the values 0, 1, 2, ..., if they are no numbers
};

/// A point, with its deviation if that is above 0. Where y is not a number, a curve is interrupted.
struct PlotPoint {
  double x = 0, y = 0, deviation = 0;
};

/// Points, from left to right.
struct PlotCurve {
  std::string label{};  // in the legend; empty: not there
  std::vector<PlotPoint> points{};
  bool dots = true;
  bool filled = false;                  // without a line: a histogram, of which these are the corners
  bool shaded = false;                  // deviations are an area, not bars
  std::optional<std::size_t> ringed{};  // a point to point out
  std::optional<std::size_t> colour{};  // none: by the order of the curves; those after the tenth are grey
  double width = 2;                     // 0: points alone
};

struct Plot {
  std::string title{};
  PlotAxis x{}, y{};
  std::vector<PlotCurve> curves{};
  std::optional<std::pair<double, double>> band{};  // in grey behind the curves, from one y to another
};
/// Whether a curve has a point that can be drawn.
bool has_points(const Plot& plot);

/// Returns round numbers from `from` to `to`: multiples of 1, 2 or 5 times a power of ten, two to seven of
/// them; on a logarithmic axis powers of ten and, over few of them, 2 and 5 times these, if that gives three
/// or more. `from` is less than `to`, and above 0 on a logarithmic axis.
std::vector<double> round_ticks(double from, double to, bool logarithmic = false);
/// Returns "0.25", "12.5k", "3M", "1e-05".
std::string tick_text(double tick);

/// Draws pictures in rows of `columns`, the smaller the more of them. Throws Error for one that has nothing
/// to draw.
std::string svg_of(const std::vector<Plot>& plots, std::size_t columns = 1);
/// Draws the weights as squares, in rows of the target and columns of the source: the larger, from 0 to 1,
/// the stronger the colour, by its square root, so that small weights are seen.
std::string svg_of(const std::vector<Alignment>& alignments);
inline std::string svg_of(const Plot& plot) { return svg_of(std::vector<Plot>{plot}); }

/// Returns a text as part of an SVG document, in an attribute, too.
std::string svg_escaped(const std::string& text);

}  // namespace rondo
