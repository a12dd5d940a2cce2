// Diagrams as SVG documents.
#include "lm/program/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "lm/program/plot_ticks.h"
#include "lm/program/progress.h"
#include "tensor/error.h"

namespace rondo {
namespace {

bool shows(const PlotAxis& axis, double value) {
  return std::isfinite(value) && (!axis.logarithmic || value > 0);
}

/// An axis with its range, which is known once all values were offered to it.
struct PlotScale {
  const PlotAxis& axis;
  double begin, end;  // pixels
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::vector<double> ticks{};

  bool shows(double value) const { return rondo::shows(axis, value); }
  void offer(double value) {
    if (shows(value)) low = std::min(low, value), high = std::max(high, value);
  }
  double position(double value) const { return axis.logarithmic ? std::log(value) : value; }

  /// Chooses range and ticks. A range that ends in ticks has room around the values.
  void close(bool at_ticks) {
    check(low <= high, "[svg_plot] nothing to draw along the axis '{}'", axis.label);
    const double most = std::max(std::abs(low), std::abs(high));
    if (high - low <= 1e-9 * most)  // one value
      axis.logarithmic ? (low /= 2, high *= 2)
                       : (low -= most > 0 ? most / 10 : 1, high += most > 0 ? most / 10 : 1);
    else if (const double room = std::pow(high / low, 0.04); at_ticks && axis.logarithmic)
      low /= room, high *= room;
    low = axis.from.value_or(low), high = axis.to.value_or(high);
    check(low < high && shows(low) && std::isfinite(high - low),
          "[svg_plot] the axis '{}' cannot reach from {} to {}", axis.label, low, high);
    ticks = axis.ticks.empty() ? round_ticks(low, high, axis.logarithmic) : axis.ticks;
    if (at_ticks && !axis.logarithmic && axis.ticks.empty()) {
      const double step = ticks[1] - ticks[0];
      if (!axis.from && ticks.front() > low + step * 1e-6) ticks.insert(ticks.begin(), ticks[0] - step);
      if (!axis.to && ticks.back() < high - step * 1e-6) ticks.push_back(ticks.back() + step);
      low = std::min(low, ticks.front()), high = std::max(high, ticks.back());
    }
    std::erase_if(ticks, [&](double tick) { return tick < low || tick > high; });
  }
  double operator()(double value) const {
    return begin + (end - begin) * (position(value) - position(low)) / (position(high) - position(low));
  }
};

struct PlotDrawing {
  static constexpr double width = 640, letter = 7.2, line = 20;  // pixels; letters are 13 high
  static constexpr double left = 72, right = 24, bottom = 52, past_the_edge = 11, dash = 12;
  static constexpr const char* grey = "#808080";  // legible on white and on black, as are these
  static constexpr std::array colours = {"#2b7bd9", "#d9822b", "#2b9e5f", "#b05fd0", "#d9463b",
                                         "#1f9bb0", "#9c7450", "#d9609f", "#8a9a1f", "#7d86c0"};
  static constexpr std::array dashes = {"6 4", "2 3", "10 3 2 3"};
  struct Entry {  // of the legend
    const std::string& label;
    const PlotCurve* curve;  // null: an area or a level
    const PlotLevel* level;
  };

  explicit PlotDrawing(const Plot& of) : plot(of) {
    for (const PlotBand& it : plot.bands) entries.push_back({it.label, nullptr, nullptr});
    for (const PlotBars& it : plot.bars) entries.push_back({it.label, nullptr, nullptr});
    for (const PlotCurve& it : plot.curves) entries.push_back({it.label, &it, nullptr});
    for (const PlotLevel& it : plot.levels) entries.push_back({it.label, nullptr, &it});
    const auto rows = static_cast<double>(legend_rows());
    height = 400 + line * std::max(0.0, rows - 4);  // a longer legend takes nothing from the curves
    x.begin = left, x.end = width - right, y.begin = height - bottom, y.end = 34 + line * rows;
  }

  const char* colour() const { return index == no_colour ? grey : colours[index % colours.size()]; }
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(svg), text, std::forward<Arguments>(arguments)...);
    svg += '\n';
  }
  void text(double at_x, double at_y, const char* anchor, const std::string& words, const char* more = "") {
    put("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'{}>{}</text>", at_x, at_y, anchor, more,
        svg_escaped(words));
  }
  static std::string dashes_of(const char* pattern) { return fmt::format(" stroke-dasharray='{}'", pattern); }
  /// What curves have of their own.
  static std::string look_of(const PlotCurve& curve) {
    return (curve.opacity < 1 ? fmt::format(" stroke-opacity='{}'", curve.opacity) : "") +
           (curve.dashed ? dashes_of(dashes[0]) : "");
  }
  void stroke(double x1, double y1, double x2, double y2, double wide = 2, const std::string& look = "") {
    put("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}' stroke-width='{}'{}/>", x1, y1, x2,
        y2, colour(), wide, look);
  }
  void stroke_level(const PlotLevel& level, double x1, double x2, double at_y) {
    index = level.colour;
    stroke(x1, at_y, x2, at_y, 1.5,
           dashes_of(dashes[static_cast<std::size_t>(&level - plot.levels.data()) % dashes.size()]));
  }
  void bar(double at_x, double at_y, double wide, double high) {
    put("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' fill-opacity='0.4'/>", at_x,
        at_y, wide, high, colour());
  }
  /// Shapes differ, so that curves can be told apart without their colours.
  void dot(double at_x, double at_y, const std::string& note = "") {
    const char* shape = index % 3 == 0   ? "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0"
                        : index % 3 == 1 ? "M-3.5,-3.5h7v7h-7z"
                                         : "M0,-5l5,5l-5,5l-5,-5z";
    put("<path transform='translate({:.1f} {:.1f})' d='{}' fill='{}'><title>{}</title></path>", at_x, at_y,
        shape, colour(), svg_escaped(note));
  }

  double width_of(const std::string& label) const { return 44 + letter * columns_of(label); }
  /// A label as the legend shows it.
  std::string fitting(std::string label) const {
    if (left + width_of(label) <= width) return label;
    while (left + width_of(label + "…") > width) {
      while ((label.back() & 0xC0) == 0x80) label.pop_back();
      label.pop_back();
    }
    return label + "…";
  }
  /// Calls `use` with each entry that has a label, and its place.
  template <class Use>
  void for_each_entry(Use use) const {
    double at_x = left, row = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string label = fitting(entries[i].label);
      if (label.empty()) continue;
      if (at_x > left && at_x + width_of(label) > width - right) at_x = left, row += 1;
      use(i, at_x, row);
      at_x += width_of(label);
    }
  }
  std::size_t legend_rows() const {
    std::size_t rows = 0;
    for_each_entry([&](std::size_t, double, double row) { rows = static_cast<std::size_t>(row) + 1; });
    return rows;
  }

  void choose_ranges() {
    for (const PlotBand& band : plot.bands)
      for (const auto& it : band.ranges) {
        if (band.ranges.size() > 1) x.offer(it.x);
        y.offer(it.lower), y.offer(it.upper);
      }
    for (const PlotBars& bars : plot.bars) {
      check(bars.edges.size() == bars.heights.size() + 1, "[svg_plot] {} bars have {} edges, not {}",
            bars.heights.size(), bars.heights.size() + 1, bars.edges.size());
      for (const double edge : bars.edges) x.offer(edge);
      for (const double it : bars.heights) y.offer(it);
      y.offer(0);
    }
    for (const PlotCurve& curve : plot.curves)
      for (const PlotPoint& it : curve.points) {
        if (!x.shows(it.x) || !y.shows(it.y)) continue;
        x.offer(it.x);
        y.offer(it.y - it.deviation), y.offer(it.y), y.offer(it.y + it.deviation);
      }
    for (const PlotLevel& it : plot.levels) y.offer(it.y);
    x.close(false), y.close(true);
    double widest = 0;  // between the axis and its label
    for (const std::string& it : tick_texts(y.ticks)) widest = std::max<double>(widest, columns_of(it));
    x.begin = std::max(left, 30 + letter * widest);
  }

  void draw_axes() {
    const auto grid = [&](double x1, double y1, double x2, double y2) {
      put("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}' stroke-opacity='0.3'/>", x1, y1,
          x2, y2, grey);
    };
    const std::vector<std::string> along = tick_texts(x.ticks), up = tick_texts(y.ticks);
    double free = -HUGE_VAL;  // where the next text may begin
    for (std::size_t i = 0; i < along.size(); ++i) {
      const double at = x(x.ticks[i]), half = letter * columns_of(along[i]) / 2;
      grid(at, y.begin, at, y.begin + 5);
      if (at - half < free) continue;
      text(at, y.begin + 20, "middle", along[i]);
      free = at + half + letter;
    }
    for (std::size_t i = 0; i < up.size(); ++i) {
      const double at = y(y.ticks[i]);
      grid(x.begin, at, x.end, at);
      text(x.begin - 8, at + 4.5, "end", up[i]);
    }
    grid(x.begin, y.begin, x.end, y.begin);
    text((x.begin + x.end) / 2, height - 10, "middle", plot.x.label);
    put("<text transform='translate(16 {:.1f}) rotate(-90)' text-anchor='middle'>{}</text>",
        (y.begin + y.end) / 2, svg_escaped(plot.y.label));
    text(left, 20, "start", plot.title, " font-size='15'");
    for_each_entry([&](std::size_t i, double at_x, double row) {
      const double at_y = 40 + line * row;
      const auto [label, curve, level] = entries[i];
      index = curve ? curve->colour.value_or(i) : i;
      if (level)
        stroke_level(*level, at_x, at_x + 22, at_y - 4);
      else if (!curve)
        bar(at_x, at_y - 9, 22, 10);
      if (curve && curve->connected)
        stroke(at_x, at_y - 4, at_x + 22, at_y - 4, curve->width, look_of(*curve));
      if (curve && curve->dots) dot(at_x + 11, at_y - 4);
      text(at_x + 28, at_y, "start", fitting(label));
    });
  }

  void draw_band(const PlotBand& band) {
    std::string there, back;
    const auto corner = [&](double at_x, const PlotBand::Range& it) {
      there += fmt::format("{:.1f},{:.1f} ", at_x, y(it.upper));
      back = fmt::format("{:.1f},{:.1f} ", at_x, y(it.lower)) + back;
    };
    if (band.ranges.size() == 1) corner(x.begin, band.ranges[0]), corner(x.end, band.ranges[0]);
    if (band.ranges.size() > 1)
      for (const PlotBand::Range& it : band.ranges) corner(x(it.x), it);
    put("<polygon points='{}{}' fill='{}' fill-opacity='0.2'/>", there, back, colour());
  }
  void draw_bars(const PlotBars& bars) {
    const double base = y(y.axis.logarithmic ? y.low : std::clamp(0.0, y.low, y.high));
    for (std::size_t i = 0; i < bars.heights.size(); ++i) {
      if (!y.shows(bars.heights[i])) continue;
      const double from = x(bars.edges[i]), to = x(bars.edges[i + 1]), at = y(bars.heights[i]);
      bar(from, std::min(at, base), to - from, std::abs(at - base));
    }
  }
  void draw_curve(const PlotCurve& curve) {
    std::string path;
    bool pen_is_down = false;
    for (const PlotPoint& it : curve.points) {
      const bool shown = x.shows(it.x) && y.shows(it.y);
      if (shown) path += fmt::format("{}{:.1f},{:.1f}", pen_is_down ? "L" : "M", x(it.x), y(it.y));
      pen_is_down = shown;
    }
    if (curve.points.size() == 1 && !curve.dots && pen_is_down)
      path = fmt::format("M{:.1f},{:.1f}h{}", x(curve.points[0].x) - dash / 2, y(curve.points[0].y), dash);
    if (curve.connected && !path.empty())
      put("<path d='{}' fill='none' stroke='{}' stroke-width='{}' stroke-linejoin='round'{}/>", path,
          colour(), curve.width, look_of(curve));
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const PlotPoint& it = curve.points[i];
      if (!x.shows(it.x) || !y.shows(it.y)) continue;
      const double lower = it.y - it.deviation;
      if (it.deviation > 0)
        stroke(x(it.x), y(y.shows(lower) ? lower : y.low), x(it.x), y(it.y + it.deviation));
      if (curve.dots)
        dot(x(it.x), y(it.y),
            it.deviation > 0 ? fmt::format("{:.6g}: {:.6g} ± {:.2g}", it.x, it.y, it.deviation)
                             : fmt::format("{:.6g}: {:.6g}", it.x, it.y));
      if (curve.ringed == i)
        put("<circle cx='{:.1f}' cy='{:.1f}' r='9' fill='none' stroke='{}' stroke-width='2'/>", x(it.x),
            y(it.y), grey);
    }
  }

  std::string draw() {
    choose_ranges();
    draw_axes();
    // What lies outside the ranges is cut off.
    put("<svg x='{0:.1f}' y='{1:.1f}' width='{2:.1f}' height='{3:.1f}' viewBox='{0:.1f} {1:.1f} {2:.1f} "
        "{3:.1f}'>",
        x.begin - past_the_edge, y.end - past_the_edge, x.end - x.begin + 2 * past_the_edge,
        y.begin - y.end + 2 * past_the_edge);
    index = 0;
    for (const PlotBand& it : plot.bands) draw_band(it), ++index;
    for (const PlotBars& it : plot.bars) draw_bars(it), ++index;
    for (const PlotCurve& it : plot.curves) {
      const std::size_t order = index;
      index = it.colour.value_or(order);
      draw_curve(it);
      index = order + 1;
    }
    for (const PlotLevel& it : plot.levels) stroke_level(it, x.begin, x.end, y(it.y));
    put("</svg>");
    return svg;
  }

  const Plot& plot;
  std::vector<Entry> entries{};
  double height = 0;
  PlotScale x{plot.x, 0, 0}, y{plot.y, 0, 0};
  std::size_t index = 0;  // of what is drawn: its colour and shape
  std::string svg{};
};

}  // namespace

bool has_points(const Plot& plot) {
  for (const PlotCurve& curve : plot.curves)
    for (const PlotPoint& it : curve.points)
      if (shows(plot.x, it.x) && shows(plot.y, it.y)) return true;
  return false;
}

std::string svg_escaped(const std::string& text) {
  std::string result;
  for (const char it : text)
    result += it == '<'    ? "&lt;"
              : it == '>'  ? "&gt;"
              : it == '&'  ? "&amp;"
              : it == '\'' ? "&apos;"
              : it == '"'  ? "&quot;"
                           : std::string(1, it);
  return result;
}

std::string svg_of(const std::vector<Plot>& plots, std::size_t columns) {
  std::string drawn;
  double y = 0, height = 0;  // of a row
  for (std::size_t i = 0; i < plots.size(); ++i) {
    if (i % columns == 0) y += height, height = 0;
    PlotDrawing drawing(plots[i]);
    height = std::max(height, drawing.height);
    drawn += fmt::format("<g transform='translate({} {})'>\n{}</g>\n",
                         PlotDrawing::width * static_cast<double>(i % columns), y, drawing.draw());
  }
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {} {}' font-family='sans-serif' "
      "font-size='13' fill='{}'>\n{}</svg>\n",
      PlotDrawing::width * static_cast<double>(std::min(columns, plots.size())), y + height,
      PlotDrawing::grey, drawn);
}

}  // namespace rondo
