// A histogram whose range grows.
#include "lm/evaluation/distribution.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "tensor/error.h"

namespace rondo {

Distribution::Distribution(double from, double to, const std::vector<int64_t>& counts, double mean,
                           double low, double high)
    : of_gates_(from == 0),
      counts_(counts),
      to_(to),
      count_(std::accumulate(counts.begin(), counts.end(), int64_t{0})) {
  check(std::ssize(counts) == bins && to > 0 && (from == 0 || from == -to),
        "[probe] no distribution has {} bins from {} to {}", counts.size(), from, to);
  const auto total = static_cast<double>(count_);
  sum_ = mean * total;
  low_ = std::llround(low * total), high_ = std::llround(high * total);
}

void Distribution::add(double value) {
  check(std::isfinite(value), "[probe] an activation is {}, no finite number", value);
  while (std::abs(value) > to_) {  // pairs of bins become one, around the middle
    std::vector<int64_t> wider(bins, 0);
    for (int64_t i = 0; i < bins; ++i)
      wider[static_cast<size_t>(bins / 4 + i / 2)] += counts_[static_cast<size_t>(i)];
    counts_ = std::move(wider);
    to_ *= 2;
  }
  const double place = (value - from()) / (to_ - from()) * static_cast<double>(bins);
  const int64_t bin = std::min(static_cast<int64_t>(place), bins - 1);
  ++counts_[static_cast<size_t>(bin)];
  ++count_;
  sum_ += value;
  low_ += value < (of_gates_ ? 0.1 : -0.9);
  high_ += value > 0.9;
}

}  // namespace rondo
