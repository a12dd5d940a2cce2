// The ticks of an axis: round numbers, and their texts. The diagram: lm/program/svg_plot.h.
#pragma once

#include <string>
#include <vector>

namespace rondo {

/// Round numbers from `from` to `to`: multiples of 1, 2 or 5 times a power of ten, two to seven of them; on a
/// logarithmic axis powers of ten, at most nine of them, and between two of them 2 and 5 times, where that
/// gives three or more.
/// `from` is less than `to`, and above 0 on a logarithmic axis.
std::vector<double> round_ticks(double from, double to, bool logarithmic = false);
/// The texts of ticks, with as many digits as tell them apart: "0.85", "12.5k", "3M", "1e-05".
std::vector<std::string> tick_texts(const std::vector<double>& ticks);

}  // namespace rondo
