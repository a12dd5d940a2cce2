// Diagrams as SVG documents: curves, points with error bars, shaded bands and histograms. They need no other
// file and no script, and can be read on a light and on a dark page. Alignments: lm/program/alignment.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rondo {

struct PlotAxis {
  std::string label{};
  bool logarithmic = false;            // then values of 0 and below are not drawn
  std::optional<double> from{}, to{};  // none: as the values need
  std::vector<double> ticks{};         // none: round numbers
};

/// A point, with an error bar if its deviation is above 0. Where y is not a number, a curve is interrupted.
struct PlotPoint {
  double x = 0, y = 0, deviation = 0;
};

/// As a colour: grey, as axes and texts. Others are legible on white and on black.
constexpr std::size_t no_colour = static_cast<std::size_t>(-1);

/// Points, from left to right. Without points, only an entry of the legend; a single one without dots is a
/// short dash.
struct PlotCurve {
  std::string label{};  // in the legend; empty: not there
  std::vector<PlotPoint> points{};
  bool connected = true, dots = true, dashed = false;
  std::optional<std::size_t> ringed{};  // a point to point out
  std::optional<std::size_t> colour{};  // none: by the order of what is drawn
  double width = 2, opacity = 1;
};

/// The area between two curves.
struct PlotBand {
  std::string label{};
  struct Range {
    double x = 0, lower = 0, upper = 0;
  };
  std::vector<Range> ranges{};  // from left to right; a single one: as wide as the diagram
};

/// A value to compare curves with: a dashed line as wide as the diagram.
struct PlotLevel {
  std::string label{};
  double y = 0;
  std::size_t colour = no_colour;
};

/// A histogram: bar i reaches from edges[i] to edges[i + 1]. Several histograms lie on top of each other.
struct PlotBars {
  std::string label{};
  std::vector<double> edges{}, heights{};
};

struct Plot {
  std::string title{};
  PlotAxis x{}, y{};
  std::vector<PlotBand> bands{};
  std::vector<PlotBars> bars{};
  std::vector<PlotCurve> curves{};
  std::vector<PlotLevel> levels{};
};

/// Whether a curve has a point that can be drawn.
bool has_points(const Plot& plot);

/// Diagrams in rows of `columns`. Colours go by the order of bands, bars and curves. A label that is too long
/// for the legend is cut. Throws Error for one that has nothing to draw.
std::string svg_of(const std::vector<Plot>& plots, std::size_t columns = 1);
inline std::string svg_of(const Plot& plot) { return svg_of(std::vector<Plot>{plot}); }

/// A text as part of an SVG document, in an attribute, too.
std::string svg_escaped(const std::string& text);

}  // namespace rondo
