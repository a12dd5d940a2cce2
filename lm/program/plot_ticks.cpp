// The ticks of an axis.
#include "lm/program/plot_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

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
  for (double i = std::ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) ticks.push_back(i * step);
  return ticks;
}

std::vector<std::string> tick_texts(const std::vector<double>& ticks) {
  double most = 0, least = HUGE_VAL;  // of those that are not 0
  for (const double tick : ticks)
    if (tick != 0) most = std::max(most, std::abs(tick)), least = std::min(least, std::abs(tick));
  const auto in_units = [](double size) {
    return size >= 1e9   ? std::pair(1.0, "")
           : size >= 1e6 ? std::pair(1e6, "M")
           : size >= 1e4 ? std::pair(1e3, "k")
                         : std::pair(1.0, "");
  };
  const auto [scale, suffix] = in_units(most);
  std::vector<std::string> texts;
  // The fewest digits that are exact; over decades, as on a logarithmic axis, each tick has its own.
  for (int digits = 0; digits <= 5 && most < 99 * least && most < 1e9; ++digits) {
    bool exact = true;
    texts.clear();
    for (const double tick : ticks) {
      const double shown = tick / scale, factor = std::pow(10, digits);
      exact &= std::abs(std::round(shown * factor) / factor - shown) <= 1e-6 * std::abs(shown);
      texts.push_back(tick == 0 ? "0" : fmt::format("{:.{}f}{}", shown, digits, suffix));
    }
    if (exact) return texts;
  }
  texts.clear();
  for (const double tick : ticks) {
    const auto [its_scale, its_suffix] = in_units(std::abs(tick));
    texts.push_back(fmt::format("{:.4g}{}", tick / its_scale, its_suffix));
  }
  return texts;
}

}  // namespace rondo
