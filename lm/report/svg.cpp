// Pictures as SVG documents.
#include "lm/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "lm/program/terminal.h"
#include "tensor/error.h"

namespace rondo {

std::vector<double> round_ticks(double from, double to, bool logarithmic) {
  std::vector<double> ticks;
  const auto within = [&](double tick) { return tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9); };
  if (logarithmic) {
    const double first = std::floor(std::log10(from)), last = std::log10(to);
    constexpr double most = 8;
    double apart = 1;  // powers of ten from tick to tick
    for (const double larger : {2, 5, 10, 20, 50, 100})
      if ((last - first) / apart > most) apart = larger;
    for (const std::vector<double>& factors : {std::vector<double>{1}, {1, 2, 5}}) {
      ticks.clear();
      for (double power = std::ceil(first / apart) * apart; power <= last; power += apart)
        for (const double factor : factors)
          if (const double tick = factor * std::pow(10, power); within(tick)) ticks.push_back(tick);
      if (ticks.size() >= 3) return ticks;
    }
  }
  const double rough = (to - from) / 6, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
  ticks.clear();
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
  for (const char it : text)
    result += it == '<'    ? "&lt;"
              : it == '>'  ? "&gt;"
              : it == '&'  ? "&amp;"
              : it == '\'' ? "&apos;"
              : it == '"'  ? "&quot;"
                           : std::string(1, it);
  return result;
}

namespace {

constexpr double letter = 7.2;           // the width of a letter that is 13 pixels high
constexpr const char* grey = "#808080";  // legible on white and on black, as are these
constexpr std::array colours = {"#2b7bd9", "#d9822b", "#2b9e5f", "#b05fd0", "#d9463b",
                                "#1f9bb0", "#9c7450", "#d9609f", "#8a9a1f", "#7d86c0"};
constexpr std::array dashes = {"6 4", "2 3", "10 3 2 3"};

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
            const std::string& more = "") {
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

  /// Chooses range and ticks. A range that ends in ticks has room around the values.
  void close(bool at_ticks) {
    check(low <= high, "[svg] nothing to draw along the axis '{}'", axis.label);
    const double most = std::max(std::abs(low), std::abs(high));
    if (high - low <= 1e-9 * most)  // one value
      axis.logarithmic ? (low /= 2, high *= 2)
                       : (low -= most > 0 ? most / 10 : 1, high += most > 0 ? most / 10 : 1);
    else if (const double room = std::pow(high / low, 0.04); at_ticks && axis.logarithmic)
      low /= room, high *= room;
    low = axis.from.value_or(low), high = axis.to.value_or(high);
    check(low < high && shows(low) && std::isfinite(high - low),
          "[svg] the axis '{}' cannot reach from {} to {}", axis.label, low, high);
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

/// A diagram in the making.
struct PlotPicture : Picture {
  static constexpr double line_height = 20, left = 72, right = 24, bottom = 52, past_the_edge = 11;

  explicit PlotPicture(const Plot& of) : Picture{640, 400}, plot(of) {
    const double rows = draw_legend();
    height += line_height * std::max(0.0, rows - 4);  // a longer legend takes nothing from the curves
    x.begin = left, x.end = width - right, y.begin = height - bottom, y.end = 34 + line_height * rows;
    choose_ranges();
    draw_axes();
    // What lies outside the ranges is cut off.
    put("<svg x='{0:.1f}' y='{1:.1f}' width='{2:.1f}' height='{3:.1f}' viewBox='{0:.1f} {1:.1f} {2:.1f} "
        "{3:.1f}'>",
        x.begin - past_the_edge, y.end - past_the_edge, x.end - x.begin + 2 * past_the_edge,
        y.begin - y.end + 2 * past_the_edge);
    for (const PlotLevel& it : plot.levels) draw_level(it, x.begin, x.end, y(it.low), y(it.high));
    for (const PlotCurve& it : plot.curves) draw_curve(it);
    put("</svg>");
  }

  std::size_t colour_number(const PlotCurve& curve) const {
    return curve.colour.value_or(static_cast<std::size_t>(&curve - plot.curves.data()));
  }
  static const char* colour_of(std::size_t number) {
    return number == no_colour ? grey : colours[number % colours.size()];
  }
  /// What strokes of a curve have of their own.
  static std::string look_of(const PlotCurve& curve) {
    return (curve.opacity < 1 ? fmt::format(" stroke-opacity='{}'", curve.opacity) : "") +
           (curve.dashed ? fmt::format(" stroke-dasharray='{}'", dashes[0]) : "");
  }
  /// Shapes differ, so that curves can be told apart without their colours.
  void dot(double at_x, double at_y, std::size_t number, const std::string& note = "") {
    const char* shape = number % 3 == 0   ? "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0"
                        : number % 3 == 1 ? "M-3.5,-3.5h7v7h-7z"
                                          : "M0,-5l5,5l-5,5l-5,-5z";
    put("<path transform='translate({:.1f} {:.1f})' d='{}' fill='{}'><title>{}</title></path>", at_x, at_y,
        shape, colour_of(number), svg_escaped(note));
  }
  void draw_level(const PlotLevel& level, double from, double to, double low, double high) {
    const auto number = static_cast<std::size_t>(&level - plot.levels.data());
    if (level.low == level.high)
      line(from, (low + high) / 2, to, (low + high) / 2, colour_of(level.colour), 1.5,
           fmt::format(" stroke-dasharray='{}'", dashes[number % dashes.size()]));
    else
      box(from, high, to - from, low - high, colour_of(level.colour), 0.2);
  }

  /// Draws the title and the legend, and returns the number of its rows.
  double draw_legend() {
    text(left, 20, "start", plot.title, " font-size='15'");
    double at_x = left, row = 0;
    bool any = false;
    const auto add = [&](std::string label, auto draw_sign) {
      if (label.empty()) return;
      constexpr double room = 44;  // for the sign, and beside the label
      for (std::string begin = label; left + room + width_of(label) > width; label = begin + "…") {
        while ((begin.back() & 0xC0) == 0x80) begin.pop_back();  // the rest of a character
        begin.pop_back();
      }
      if (at_x > left && at_x + room + width_of(label) > width - right) at_x = left, ++row;
      const double at_y = 40 + line_height * row;
      draw_sign(at_x, at_y - 4);
      text(at_x + 28, at_y, "start", label);
      at_x += room + width_of(label);
      any = true;
    };
    for (const PlotCurve& it : plot.curves)
      add(it.label, [&](double at, double at_y) {
        const std::size_t number = colour_number(it);
        line(at, at_y, at + 22, at_y, colour_of(number), it.width, look_of(it));
        if (it.dots) dot(at + 11, at_y, number);
      });
    for (const PlotLevel& it : plot.levels)
      add(it.label, [&](double at, double at_y) { draw_level(it, at, at + 22, at_y + 5, at_y - 5); });
    return any ? row + 1 : 0;
  }

  void choose_ranges() {
    for (const PlotCurve& curve : plot.curves) {
      if (curve.filled) y.offer(0);
      for (const PlotPoint& it : curve.points) {
        if (!x.shows(it.x) || !y.shows(it.y)) continue;
        x.offer(it.x);
        y.offer(it.y - it.deviation), y.offer(it.y), y.offer(it.y + it.deviation);
      }
    }
    for (const PlotLevel& it : plot.levels) y.offer(it.low), y.offer(it.high);
    x.close(false), y.close(true);
    double widest = 0;  // between the axis and its label
    for (const double it : y.ticks) widest = std::max(widest, width_of(tick_text(it)));
    x.begin = std::max(left, 30 + widest);
  }

  void draw_axes() {
    const std::string pale = " stroke-opacity='0.3'";
    double free = -HUGE_VAL;  // where the next text may begin
    for (const double tick : x.ticks) {
      const double at = x(tick), half = width_of(tick_text(tick)) / 2;
      line(at, y.begin, at, y.begin + 5, grey, 1, pale);
      if (at - half < free) continue;
      text(at, y.begin + 20, "middle", tick_text(tick));
      free = at + half + letter;
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
    std::string path;
    bool pen_is_down = false;
    for (const PlotPoint& it : curve.points) {
      const bool shown = x.shows(it.x) && y.shows(it.y);
      if (shown) path += fmt::format("{}{:.1f},{:.1f}", pen_is_down ? "L" : "M", x(it.x), y(it.y));
      pen_is_down = shown;
    }
    if (curve.filled) {
      put("<path d='{}' fill='{}' fill-opacity='0.4'/>", path, colour_of(number));
      return;
    }
    constexpr double dash = 12;
    if (curve.points.size() == 1 && !curve.dots && pen_is_down)
      path = fmt::format("M{:.1f},{:.1f}h{}", x(curve.points[0].x) - dash / 2, y(curve.points[0].y), dash);
    if (!path.empty())
      put("<path d='{}' fill='none' stroke='{}' stroke-width='{}' stroke-linejoin='round'{}/>", path,
          colour_of(number), curve.width, look_of(curve));
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const PlotPoint& it = curve.points[i];
      if (!x.shows(it.x) || !y.shows(it.y)) continue;
      const double lower = it.y - it.deviation;
      if (it.deviation > 0)
        line(x(it.x), y(y.shows(lower) ? lower : y.low), x(it.x), y(it.y + it.deviation), colour_of(number),
             2);
      if (curve.dots)
        dot(x(it.x), y(it.y), number,
            it.deviation > 0 ? fmt::format("{:.6g}: {:.6g} ± {:.2g}", it.x, it.y, it.deviation)
                             : fmt::format("{:.6g}: {:.6g}", it.x, it.y));
      if (curve.ringed == i)
        put("<circle cx='{:.1f}' cy='{:.1f}' r='9' fill='none' stroke='{}' stroke-width='2'/>", x(it.x),
            y(it.y), grey);
    }
  }

  const Plot& plot;
  PlotScale x{plot.x}, y{plot.y};
};

Picture picture_of(const Alignment& map) {
  constexpr double square = 22, margin = 8;
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
    picture.upright_text(at(left, column) + 0.7 * square, top - margin, "start", map.source[column]);
  for (std::size_t row = 0; row < map.target.size(); ++row) {
    picture.text(left - margin, at(top, row) + 0.7 * square, "end", map.target[row]);
    for (std::size_t column = 0; column < map.source.size(); ++column)
      picture.box(at(left, column), at(top, row), square - 1, square - 1, colours[0],
                  std::clamp(map.weights[row][column], 0.0f, 1.0f));
  }
  return picture;
}

std::string svg_document(const std::vector<Picture>& pictures, std::size_t columns) {
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
      "{1:.0f}' "
      "font-family='sans-serif' font-size='13' fill='{2}'>\n{3}</svg>\n",
      width, y + height, grey, drawn);
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
    const PlotPicture drawn(it);
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
