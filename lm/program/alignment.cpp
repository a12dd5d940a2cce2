// Attention as JSON and as a picture.
#include "lm/program/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "data/unicode.h"
#include "lm/program/svg_plot.h"
#include "tensor/error.h"

namespace rondo {
namespace {

constexpr double square = 22, letter = 8, margin = 8;  // pixels; of the height of a letter, 13

/// The width of the longest symbol.
double width_of(const std::vector<std::string>& symbols) {
  std::size_t most = 1;
  for (const std::string& it : symbols) most = std::max(most, code_points(it, "a symbol").size());
  return letter * static_cast<double>(most);
}

struct Size {
  double left, top, width, height;  // of the symbols beside the squares, and of the whole
};
Size size_of(const Alignment& it) {
  const double left = width_of(it.target) + margin, top = width_of(it.source) + margin;
  return {left, top, left + square * static_cast<double>(it.source.size()) + margin,
          top + square * static_cast<double>(it.target.size()) + 2 * margin};
}

}  // namespace

nlohmann::ordered_json json_of(const Alignment& it) {
  return {{"source", it.source}, {"target", it.target}, {"weights", it.weights}};
}

Alignment alignment_of(const nlohmann::json& json) {
  Alignment it{json.at("source"), json.at("target"), json.at("weights")};
  check_input(it.weights.size() == it.target.size(), "weights must have a list for each target symbol");
  for (const std::vector<float>& row : it.weights)
    check_input(row.size() == it.source.size(), "each list of weights must have one for each source symbol");
  return it;
}

std::string svg_of(const std::vector<Alignment>& alignments) {
  double width = 0, height = 0;
  for (const Alignment& it : alignments)
    width = std::max(width, size_of(it).width), height += size_of(it).height;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" fill=\"black\" style=\"fill: black\" font-family=\"monospace\" "
      "font-size=\"13\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "fill=\"white\"/>\n",
      width, height);
  const auto out = std::back_inserter(svg);
  double y = 0;
  for (const Alignment& it : alignments) {
    const Size size = size_of(it);
    const double top = y + size.top;
    for (std::size_t s = 0; s < it.source.size(); ++s) {
      const double x = size.left + square * (static_cast<double>(s) + 0.7);
      fmt::format_to(out, "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n", x,
                     top - margin / 2, svg_escaped(it.source[s]));
    }
    for (std::size_t t = 0; t < it.target.size(); ++t) {
      const double row = top + square * static_cast<double>(t);
      fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                     size.left - margin / 2, row + 0.7 * square, svg_escaped(it.target[t]));
      for (std::size_t s = 0; s < it.source.size(); ++s)
        fmt::format_to(out,
                       "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2}\" height=\"{2}\" "
                       "fill=\"#{3:02x}{3:02x}{3:02x}\"/>\n",
                       size.left + square * static_cast<double>(s), row, square - 1,
                       static_cast<int>(std::lround(255 * (1 - std::clamp(it.weights[t][s], 0.0f, 1.0f)))));
    }
    y += size.height;
  }
  return svg + "</svg>\n";
}

}  // namespace rondo
