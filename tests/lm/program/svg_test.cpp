// Diagrams: where values are drawn, by the ticks beside them.
#include "lm/report/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "tests/temporary_folder.h"

namespace rondo {
namespace {

using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

Texts texts_of(const Numbers& ticks) {
  Texts texts;
  for (const double tick : ticks) texts.push_back(tick_text(tick));
  return texts;
}

TEST(PlotTicks, AreRound) {
  EXPECT_EQ(round_ticks(0, 6), (Numbers{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(round_ticks(512, 1199), (Numbers{600, 800, 1000}));
  EXPECT_EQ(texts_of(round_ticks(1.31, 1.388)), (Texts{"1.32", "1.34", "1.36", "1.38"}));
  EXPECT_EQ(round_ticks(-1, 1), (Numbers{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(round_ticks(1e-3, 20, true).size(), 5u) << "powers of ten";
  EXPECT_LE(round_ticks(1e-300, 1e300, true).size(), 9u);
  EXPECT_EQ(texts_of(round_ticks(30, 700, true)), (Texts{"50", "100", "200", "500"}));
  EXPECT_EQ(round_ticks(12, 18, true), (Numbers{12, 13, 14, 15, 16, 17, 18})) << "no power of ten in between";
  EXPECT_EQ(texts_of({0, 12500, 3e6, 1e-5, 1e9}), (Texts{"0", "12.5k", "3M", "1e-05", "1e+09"}));
}

/// The numbers of the first match of `pattern`, a regular expression in which a @ stands for each of them.
Numbers numbers_at(const std::string& svg, const std::string& pattern) {
  std::smatch match;
  Numbers numbers;
  const std::regex regex(std::regex_replace(pattern, std::regex("@"), "([-0-9.]+)"));
  if (!std::regex_search(svg, match, regex)) ADD_FAILURE() << pattern << " is not in\n" << svg;
  for (std::size_t i = 1; i < match.size(); ++i) numbers.push_back(std::stod(match[i]));
  return numbers;
}

/// Where a value is, by two ticks of an axis.
double between(const std::string& svg, const char* coordinate, const char* anchor, double value, int low,
               int high) {
  const auto at = [&](int tick) {
    return numbers_at(
        svg, fmt::format("<text x='@' y='@' text-anchor='{}'>{}</text>", anchor, tick))[*coordinate == 'y'];
  };
  const double of_low = at(low), of_high = at(high);
  return of_low + (of_high - of_low) * (value - low) / (high - low) - (*coordinate == 'y' ? 4.5 : 0);
}

/// It has nothing that a browser does not understand.
void expect_well_formed(const std::string& svg) {
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg.find("script"), std::string::npos);
}

TEST(SvgPlot, DrawsValuesBesideTheirTicks) {
  const std::string svg =
      svg_of({.x = {.label = "units"},
              .y = {.label = "bits"},
              .curves = {{.label = "valid", .points = {{200, 31}, {430, 18, 4}, {600, 12}}, .ringed = 2}}});
  expect_well_formed(svg);
  const auto x = [&](double value) { return between(svg, "x", "middle", value, 200, 600); };
  const auto y = [&](double value) { return between(svg, "y", "end", value, 15, 30); };
  const Numbers curve = numbers_at(svg, "d='M@,@L@,@L@,@'");
  const Numbers expected{x(200), y(31), x(430), y(18), x(600), y(12)};
  for (std::size_t i = 0; i < curve.size(); ++i) EXPECT_NEAR(curve[i], expected[i], 0.2) << i;
  EXPECT_LT(curve[1], curve[5]) << "y goes up";
  const Numbers bar = numbers_at(
      svg, "<line x1='@' y1='@' x2='@' y2='@' stroke='#2b7bd9' stroke-width='2'/>\n<path[^>]*><title>430");
  EXPECT_NEAR(bar[0], x(430), 0.2);
  EXPECT_NEAR(bar[1], y(14), 0.2);
  EXPECT_NEAR(bar[3], y(22), 0.2);
  const Numbers ring = numbers_at(svg, "<circle cx='@' cy='@'");
  EXPECT_NEAR(ring[0], x(600), 0.2);
}

TEST(SvgPlot, DrawsHistogramsFromZero) {
  const std::string svg = svg_of(
      {.y = {.label = "share", .from = 0},
       .curves = {{.points = {{-10, 0}, {-10, 30}, {0, 30}, {0, 10}, {10, 10}, {10, 0}}, .filled = true}}});
  expect_well_formed(svg);
  const Numbers corners = numbers_at(svg, "<path d='M@,@L@,@L@,@L");
  const double x0 = between(svg, "x", "middle", 0, -10, 10), y10 = between(svg, "y", "end", 10, 10, 30),
               y30 = between(svg, "y", "end", 30, 10, 30);
  EXPECT_NEAR(corners[1] - corners[3], 1.5 * (y10 - y30), 0.2);
  EXPECT_NEAR(corners[3], y30, 0.2);
  EXPECT_NEAR(corners[4], x0, 0.2);
}

TEST(HeatMaps, HaveStrongerSquaresForLargerValues) {
  const std::string svg = svg_of(std::vector<Alignment>{{{"a", "<b>"}, {"the long name"}, {{0.25f, 1}}}});
  EXPECT_EQ(numbers_at(svg, "fill-opacity='@'[^]*fill-opacity='@'"), (Numbers{0.5, 1}));
  for (const char* text : {">a<", ">&lt;b&gt;<", ">the long name<"}) expect_contains(svg, text);
}

TEST(SvgPlot, LogarithmicAxesAreStraightInDecades) {
  const std::string svg = svg_of({.x = {.logarithmic = true},
                                  .y = {.logarithmic = true},
                                  .curves = {{"", {{1, 1}, {10, 10}, {0, 5}, {100, 1000, 2000}}}}});
  expect_well_formed(svg);
  const Numbers curve = numbers_at(svg, "d='M@,@L@,@M@,@");
  EXPECT_NEAR(curve[4] - curve[0], 2 * (curve[2] - curve[0]), 0.2) << "0 is left out";
  EXPECT_NEAR(curve[5] - curve[1], 3 * (curve[3] - curve[1]), 0.2);
}

TEST(SvgPlot, CurvesBreakWhereAValueIsMissing) {
  const double none = std::nan("");
  const std::string svg = svg_of({.curves = {{"a < b & \uffff", {{0, 1}, {1, none}, {2, 3}, {3, 4}}}}});
  expect_well_formed(svg);
  numbers_at(svg, "d='M@[^LM]*M[^LM]*L[^LM]*'");
  expect_contains(svg, "a &lt; b &amp; \\xef\\xbf\\xbf");
}

TEST(SvgPlot, SeveralInAGrid) {
  const Plot plot{.title = "one", .curves = {{"", {{1, 5}}}}};  // a single value has a range, too
  const std::string svg = svg_of({plot, plot, plot}, 2);
  expect_well_formed(svg);
  const Numbers size = numbers_at(svg, "viewBox='0 0 @ @'");
  const Numbers third = numbers_at(svg, "translate\\(280 0\\)[^]*<g transform='translate\\(@ @");
  EXPECT_EQ(size, (Numbers{560, 436}));
  EXPECT_EQ(third, (Numbers{0, 218}));
}

// Beside the ends of the curves, in the order of these; no colour stands for two curves.
TEST(SvgPlot, TheLegendStandsBesideTheCurves) {
  Plot plot{
      .curves = {{"high", {{0, 1}, {1, 9}}}, {"low", {{0, 9}, {1, 1}}}, {"higher", {{0, 5}, {1, 9.1}}}}};
  const std::string svg = svg_of(plot);
  const Numbers at = numbers_at(svg, "y='@'[^>]*>higher<[^]*y='@'[^>]*>high<[^]*y='@'[^>]*>low<");
  EXPECT_GE(at[1] - at[0], 13) << "one label lies on another";
  EXPECT_NEAR(at[2] - 4, between(svg, "y", "end", 1, 2, 8), 0.2) << "the label is not beside its curve";
  for (int i = 0; i < 9; ++i) plot.curves.push_back({fmt::format("curve {}", i), {{0, 1}, {1, 2}}});
  const std::string many = svg_of(plot);
  expect_contains(many, ">curve 6</text>");
  EXPECT_EQ(many.find(">curve 7</text>"), std::string::npos);
  expect_contains(many, ">2 more</text>");
}

TEST(SvgPlot, DeviationsAreBarsOrAnArea) {
  PlotCurve curve{.points = {{0, 5, 1}, {1, 4, 2}}};
  EXPECT_EQ(svg_of({.curves = {curve}}).find("<polygon"), std::string::npos);
  curve.shaded = true;
  const std::string svg = svg_of({.curves = {curve}});
  const Numbers corners = numbers_at(svg, "<polygon points='@,@ @,@ @,@ @,@ '");
  const std::vector<double> values{6, 6, 2, 4};
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(corners[2 * i + 1], between(svg, "y", "end", values[i], 2, 6), 0.2) << i;
}

TEST(SvgPlot, NamesOfAnAxisHaveATickEach) {
  Plot plot{.x = {.names = {"gru", "lstm"}}, .curves = {{"", {{0, 5}, {1, 4}}}}};
  expect_contains(svg_of(plot), ">lstm</text>");
  EXPECT_EQ(svg_of(plot).find("rotate(-90)' text-anchor='end'"), std::string::npos);
  plot.x.names[0] = std::string(90, 'n');
  expect_contains(svg_of(plot), "rotate(-90)' text-anchor='end'>lstm<");
}

/// The numbers below the x axis.
Texts ticks_of(const std::vector<double>& xs, PlotAxis axis) {
  Plot plot{.x = std::move(axis), .curves = {{}}};
  for (const double x : xs) plot.curves[0].points.push_back({x, 0});
  const std::string svg = svg_of(plot);
  const std::regex text("text-anchor='middle'>([^<]+)<");
  Texts texts;
  for (std::sregex_iterator it(svg.begin(), svg.end(), text), none; it != none; ++it)
    texts.push_back((*it)[1]);
  return texts;
}

TEST(SvgPlot, TicksAreWhereTheAxisWantsThem) {
  EXPECT_EQ(ticks_of({0, 1}, {}), (Texts{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  EXPECT_EQ(ticks_of({0, 1}, {.whole = true}), (Texts{"0", "1"}));
  EXPECT_EQ(ticks_of({1}, {.whole = true}), (Texts{"1"}));
  EXPECT_EQ(ticks_of({0.6, 1}, {.whole = true}).size(), 5u) << "less than an epoch";
  EXPECT_EQ(ticks_of({24, 25, 96}, {.ticks = {24, 25, 96}}), (Texts{"24", "96"})) << "25 has no room";
}

TEST(SvgPlot, HugeAndEqualValuesEnd) {
  for (const double value : {0.0, 1e17, 1e300, -1e-300})
    expect_well_formed(svg_of({.curves = {{"", {{value, value}, {std::nextafter(value, 1e308), value}}}}}));
}

TEST(SvgPlot, RefusesWhatCannotBeDrawn) {
  expect_contains(error_of<Error>([] { svg_of({.x = {.label = "units"}}); }),
                  "nothing to draw along the axis 'units'");
  expect_contains(error_of<Error>([] {
                    svg_of({.x = {.from = 2, .to = 1}, .curves = {{"", {{1, 1}}}}});
                  }),
                  "cannot reach from 2 to 1");
}

}  // namespace
}  // namespace rondo
