// Pictures as SVG documents.
#include "lm/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "data/files/lines.h"
#include "lm/program/terminal.h"
#include "tensor/error.h"

namespace rondo {

std::vector<double> round_ticks(double from, double to, bool logarithmic) {
  std::vector<double> ticks;
  if (logarithmic) {
    const double first = std::floor(std::log10(from)), last = std::floor(std::log10(to));
    constexpr double most = 8;
    const double apart = std::ceil((last - first) / most);  // powers of ten from tick to tick
    const std::vector<double> factors =
        last - first > 2 ? std::vector<double>{1} : std::vector<double>{1, 2, 5};
    for (double power = first; power <= last; power += std::max(1.0, apart))
      for (const double factor : factors)
        if (const double tick = factor * std::pow(10, power); tick >= from && tick <= to)
          ticks.push_back(tick);
    if (ticks.size() >= 3) return ticks;
    ticks.clear();
  }
  const double rough = (to - from) / 6, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
  for (double i = std::ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i)
    ticks.push_back(i * step + 0.0);  // not -0
  return ticks;
}

std::string tick_text(double tick) {
  const double size = std::abs(tick);
  return size >= 1e9   ? fmt::format("{:.6g}", tick)
         : size >= 1e6 ? fmt::format("{:.6g}M", tick / 1e6)
         : size >= 1e4 ? fmt::format("{:.6g}k", tick / 1e3)
                       : fmt::format("{:.6g}", tick);
}

std::string svg_escaped(const std::string& text) {
  std::string result;
  for (const char it : printable(text))
    result += it == '<'    ? "&lt;"
              : it == '>'  ? "&gt;"
              : it == '&'  ? "&amp;"
              : it == '\'' ? "&apos;"
              : it == '"'  ? "&quot;"
                           : std::string(1, it);
  return result;
}

namespace {

constexpr double letter = 8;             // the width of a letter that is 13 pixels high, in wide typefaces
constexpr const char* grey = "#767676";  // legible on white and on black, as are these
constexpr std::array colours = {"#2b7bd9", "#d9822b", "#2b9e5f", "#b05fd0", "#d9463b",
                                "#1f9bb0", "#9c7450", "#d9609f", "#8a9a1f", "#7d86c0"};

double width_of(const std::string& text) { return letter * columns_of(text); }

bool shows(const PlotAxis& axis, double value) {
  return std::isfinite(value) && (!axis.logarithmic || value > 0);
}

/// What is drawn, and its size in pixels.
struct Picture {
  double width = 0, height = 0;
  std::string svg{};

  template <class... Arguments>
  void put(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(svg), text, std::forward<Arguments>(arguments)...);
    svg += '\n';
  }
  void text(double x, double y, const char* anchor, const std::string& words, const char* more = "") {
    put("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'{}>{}</text>", x, y, anchor, more, svg_escaped(words));
  }
  void upright_text(double x, double y, const char* anchor, const std::string& words) {
    put("<text transform='translate({:.1f} {:.1f}) rotate(-90)' text-anchor='{}'>{}</text>", x, y, anchor,
        svg_escaped(words));
  }
  void line(double x1, double y1, double x2, double y2, const char* colour, double wide,
            const char* more = "") {
    put("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}' stroke-width='{}'{}/>", x1, y1, x2,
        y2, colour, wide, more);
  }
  void box(double x, double y, double wide, double high, const char* colour, double opacity) {
    put("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' fill-opacity='{:.2g}'/>", x, y,
        wide, high, colour, opacity);
  }
};

/// An axis with its range, which is known once all values were offered to it.
struct PlotScale {
  const PlotAxis& axis;
  double begin = 0, end = 0;  // pixels
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::vector<double> ticks{};

  bool shows(double value) const { return rondo::shows(axis, value); }
  void offer(double value) {
    if (shows(value)) low = std::min(low, value), high = std::max(high, value);
  }
  double position(double value) const { return axis.logarithmic ? std::log(value) : value; }

  /// Chooses range and ticks. `room` is left on both sides of the values, as a share of their range.
  void close(double room) {
    check(low <= high, "[svg] nothing to draw along the axis '{}'", axis.label);
    const double most = std::max(std::abs(low), std::abs(high));
    const bool is_one_value = high - low <= 1e-9 * most;
    if (!axis.names.empty()) {
      low = -0.5, high = static_cast<double>(axis.names.size()) - 0.5;
    } else if (axis.logarithmic) {
      const double factor = is_one_value ? 2 : std::pow(high / low, room);
      low /= factor, high *= factor;
    } else {
      const double margin = !is_one_value ? (high - low) * room : most > 0 ? most / 10 : 1;
      low -= margin, high += margin;
    }
    low = axis.from.value_or(low), high = axis.to.value_or(high);
    check(low < high && shows(low) && std::isfinite(high - low),
          "[svg] the axis '{}' cannot reach from {} to {}", axis.label, low, high);
    if (axis.names.empty())
      ticks = axis.ticks.empty() ? round_ticks(low, high, axis.logarithmic) : axis.ticks;
    if (axis.whole && is_one_value) ticks = {(low + high) / 2};
    if (axis.whole && std::floor(high) > std::ceil(low))
      std::erase_if(ticks, [](double it) { return std::abs(it - std::round(it)) > 1e-9; });
    for (std::size_t i = 0; i < axis.names.size(); ++i) ticks.push_back(static_cast<double>(i));
  }
  double operator()(double value) const {
    return begin + (end - begin) * (position(value) - position(low)) / (position(high) - position(low));
  }
};

/// A diagram in the making.
struct PlotPicture : Picture {
  static constexpr double line_height = 18, left = 56, right = 24, top = 34, past_the_edge = 11;

  /// On a telephone, 368 pixels wide, letters of such a picture are still more than 8 pixels high.
  PlotPicture(const Plot& of, double columns) : Picture{560 / columns}, plot(of) {
    text(left, 20, "start", plot.title, " font-size='15'");
    std::vector<LegendEntry> legend = legend_entries();
    double widest = 0, widest_name = 0;
    for (const LegendEntry& it : legend) widest = std::max(widest, width_of(it.label));
    width = std::max(width, left + 15.0 / 13 * width_of(plot.title));
    if (!legend.empty()) width = std::max(width, 340 + widest);  // nothing is taken from the curves
    for (const std::string& it : plot.x.names) widest_name = std::max(widest_name, width_of(it));
    x.begin = left, x.end = width - (legend.empty() ? right : widest + 40);
    upright_names = (widest_name + letter) * static_cast<double>(plot.x.names.size()) > x.end - x.begin;
    const double bottom = 52 + (upright_names ? widest_name - 10 : 0);
    const double of_legend = line_height * static_cast<double>(legend.size());
    height = top + bottom + std::max(264 / columns, of_legend);
    y.begin = height - bottom, y.end = top;
    choose_ranges();
    draw_axes();
    draw_legend(legend);
    // What lies outside the ranges is cut off.
    put("<svg x='{0:.1f}' y='{1:.1f}' width='{2:.1f}' height='{3:.1f}' viewBox='{0:.1f} {1:.1f} {2:.1f} "
        "{3:.1f}'>",
        x.begin - past_the_edge, y.end - past_the_edge, x.end - x.begin + 2 * past_the_edge,
        y.begin - y.end + 2 * past_the_edge);
    if (plot.band) {
      const auto [low, high] = *plot.band;
      box(x.begin, y(high), x.end - x.begin, y(low) - y(high), grey, 0.2);
    }
    for (const bool in_colour : {false, true})
      for (const PlotCurve& it : plot.curves)
        if (in_colour == (colour_number(it) < colours.size())) draw_curve(it);
    put("</svg>");
  }

  std::size_t colour_number(const PlotCurve& curve) const {
    return curve.colour.value_or(static_cast<std::size_t>(&curve - plot.curves.data()));
  }
  static const char* colour_of(std::size_t number) {
    return number < colours.size() ? colours[number] : grey;
  }
  /// Shapes differ, so that curves can be told apart without their colours.
  void dot(double at_x, double at_y, std::size_t number, const std::string& note = "") {
    const char* shape = number % 3 == 0   ? "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0"
                        : number % 3 == 1 ? "M-3.5,-3.5h7v7h-7z"
                                          : "M0,-5l5,5l-5,5l-5,-5z";
    put("<path transform='translate({:.1f} {:.1f})' d='{}' fill='{}'><title>{}</title></path>", at_x, at_y,
        shape, colour_of(number), svg_escaped(note));
  }

  struct LegendEntry {
    std::string label;
    const PlotCurve* curve;
    double y = 0;
  };
  /// One for each label of a curve with a colour, and one for all the others.
  std::vector<LegendEntry> legend_entries() const {
    std::vector<LegendEntry> entries;
    const PlotCurve* other = nullptr;
    std::size_t others = 0;
    for (const PlotCurve& it : plot.curves) {
      if (it.label.empty() || !has_points({.x = plot.x, .y = plot.y, .curves = {it}})) continue;
      if (colour_number(it) < colours.size())
        entries.push_back({it.label, &it});
      else
        other = &it, ++others;
    }
    if (other) entries.push_back({fmt::format("{} more", others), other});
    return entries;
  }
  /// Each entry stands beside the end of its curve, if there is room.
  void draw_legend(std::vector<LegendEntry>& entries) {
    for (LegendEntry& entry : entries) {
      entry.y = y.begin;
      for (const PlotPoint& it : entry.curve->points)
        if (x.shows(it.x) && y.shows(it.y)) entry.y = y(it.y);
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const LegendEntry& a, const LegendEntry& b) { return a.y < b.y; });
    double highest = y.end, lowest = y.begin;
    for (LegendEntry& it : entries) it.y = std::max(it.y, highest), highest = it.y + line_height;
    for (auto it = entries.rbegin(); it != entries.rend(); ++it)
      it->y = std::min(it->y, lowest), lowest = it->y - line_height;
    for (const auto& [label, curve, at_y] : entries) {
      const std::size_t number = colour_number(*curve);
      line(x.end + 10, at_y, x.end + 26, at_y, colour_of(number), curve->width);
      if (curve->dots) dot(x.end + 18, at_y, number);
      text(x.end + 32, at_y + 4, "start", label);
    }
  }

  void choose_ranges() {
    for (const PlotCurve& curve : plot.curves)
      for (const PlotPoint& it : curve.points) {
        if (!x.shows(it.x) || !y.shows(it.y)) continue;
        x.offer(it.x);
        y.offer(it.y - it.deviation), y.offer(it.y), y.offer(it.y + it.deviation);
      }
    if (plot.band) y.offer(plot.band->first), y.offer(plot.band->second);
    x.close(0.03), y.close(0.04);  // so that no marker covers a number of an axis
    double widest = 0;             // between the axis and its label
    for (const double it : y.ticks) widest = std::max(widest, width_of(tick_text(it)));
    x.begin = std::max(left, 30 + widest);
  }

  void draw_axes() {
    const char* pale = " stroke-opacity='0.3'";
    double free = 0;  // from here on no text stands below the axis
    for (const double tick : x.ticks) {
      line(x(tick), y.begin, x(tick), y.begin + 5, grey, 1, pale);
      const std::string words =
          plot.x.names.empty() ? tick_text(tick) : plot.x.names[static_cast<std::size_t>(tick)];
      if (upright_names)
        upright_text(x(tick) + 4.5, y.begin + 10, "end", words);
      else if (const double half = width_of(words) / 2; x(tick) - half >= free)
        text(x(tick), y.begin + 20, "middle", words), free = x(tick) + half + letter;
    }
    for (const double tick : y.ticks) {
      line(x.begin, y(tick), x.end, y(tick), grey, 1, pale);
      text(x.begin - 8, y(tick) + 4.5, "end", tick_text(tick));
    }
    line(x.begin, y.begin, x.end, y.begin, grey, 1, pale);
    text((x.begin + x.end) / 2, height - 10, "middle", plot.x.label);
    upright_text(16, (y.begin + y.end) / 2, "middle", plot.y.label);
  }

  void draw_curve(const PlotCurve& curve) {
    const std::size_t number = colour_number(curve);
    std::string path, upper, lower;
    bool pen_is_down = false;
    for (const PlotPoint& it : curve.points) {
      const bool shown = x.shows(it.x) && y.shows(it.y);
      if (shown) path += fmt::format("{}{:.1f},{:.1f}", pen_is_down ? "L" : "M", x(it.x), y(it.y));
      pen_is_down = shown;
      if (!shown || !curve.shaded) continue;
      const auto corner = [&](double value) { return fmt::format("{:.1f},{:.1f} ", x(it.x), y(value)); };
      upper += corner(it.y + it.deviation);
      lower.insert(0, corner(y.shows(it.y - it.deviation) ? it.y - it.deviation : y.low));
    }
    if (!upper.empty())
      put("<polygon points='{}{}' fill='{}' fill-opacity='0.2'/>", upper, lower, colour_of(number));
    if (curve.filled) {
      put("<path d='{}' fill='{}' fill-opacity='0.6'/>", path, colour_of(number));
      return;
    }
    if (!path.empty() && curve.width > 0)
      put("<path d='{}' fill='none' stroke='{}' stroke-width='{}' stroke-linejoin='round'/>", path,
          colour_of(number), curve.width);
    for (std::size_t i = 0; i < curve.points.size(); ++i)
      if (const PlotPoint& it = curve.points[i]; x.shows(it.x) && y.shows(it.y))
        draw_point(curve, it, curve.ringed == i);
  }
  void draw_point(const PlotCurve& curve, const PlotPoint& it, bool ringed) {
    const std::size_t number = colour_number(curve);
    const double lower = it.y - it.deviation;
    std::string note = fmt::format("{:.6g}: {:.6g}", it.x, it.y);
    if (it.deviation > 0) note += fmt::format(" ± {:.2g}", it.deviation);
    if (it.deviation > 0 && (!curve.shaded || curve.points.size() == 1))
      line(x(it.x), y(y.shows(lower) ? lower : y.low), x(it.x), y(it.y + it.deviation), colour_of(number), 2);
    if (curve.dots) dot(x(it.x), y(it.y), number, note);
    if (ringed)
      put("<circle cx='{:.1f}' cy='{:.1f}' r='9' fill='none' stroke='{}' stroke-width='2'/>", x(it.x),
          y(it.y), grey);
  }

  const Plot& plot;
  PlotScale x{plot.x}, y{plot.y};
  bool upright_names = false;  // of the x axis, where they have no room side by side
};

Picture picture_of(const Alignment& map) {
  constexpr double square = 18, margin = 8;
  const auto widest = [](const std::vector<std::string>& labels) {
    double most = letter;
    for (const std::string& it : labels) most = std::max(most, width_of(it));
    return most + 2 * margin;
  };
  const double left = widest(map.target), top = widest(map.source);
  Picture picture{left + square * static_cast<double>(map.source.size()) + margin,
                  top + square * static_cast<double>(map.target.size()) + margin};
  const auto at = [](double begin, std::size_t i) { return begin + square * static_cast<double>(i); };
  for (std::size_t column = 0; column < map.source.size(); ++column)
    picture.upright_text(at(left, column) + 0.75 * square, top - margin, "start", map.source[column]);
  for (std::size_t row = 0; row < map.target.size(); ++row) {
    picture.text(left - margin, at(top, row) + 0.75 * square, "end", map.target[row]);
    for (std::size_t column = 0; column < map.source.size(); ++column)
      picture.box(at(left, column), at(top, row), square - 1, square - 1, colours[0],
                  std::sqrt(std::clamp(map.weights[row][column], 0.0f, 1.0f)));
  }
  return picture;
}

std::string svg_document(const std::vector<Picture>& pictures, std::size_t columns) {
  constexpr double smallest = 8.0 / 13;  // letters of 8 pixels; what has less room is moved in its window
  std::string drawn;
  double x = 0, y = 0, width = 0, height = 0;  // of the whole, and of a row
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (i % columns == 0) y += height, x = height = 0;
    drawn += fmt::format("<g transform='translate({} {})'>\n{}</g>\n", x, y, pictures[i].svg);
    x += pictures[i].width;
    width = std::max(width, x), height = std::max(height, pictures[i].height);
  }
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' viewBox='0 0 {0:.0f} "
      "{1:.0f}' style='min-width: {2:.0f}px' font-family='sans-serif' font-size='13' "
      "fill='{3}'>\n{4}</svg>\n",
      width, y + height, smallest * width, grey, drawn);
}

}  // namespace

bool has_points(const Plot& plot) {
  for (const PlotCurve& curve : plot.curves)
    for (const PlotPoint& it : curve.points)
      if (shows(plot.x, it.x) && shows(plot.y, it.y)) return true;
  return false;
}

std::string svg_of(const std::vector<Plot>& plots, std::size_t columns) {
  std::vector<Picture> pictures;
  for (const Plot& it : plots) {
    const PlotPicture drawn(it, static_cast<double>(columns));
    pictures.push_back({drawn.width, drawn.height, drawn.svg});
  }
  return svg_document(pictures, columns);
}

std::string svg_of(const std::vector<Alignment>& alignments) {
  std::vector<Picture> pictures;
  for (const Alignment& it : alignments) pictures.push_back(picture_of(it));
  return svg_document(pictures, 1);
}

}  // namespace rondo
