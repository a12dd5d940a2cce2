// A histogram whose range grows.
#include "lm/evaluation/distribution.h"

#include <algorithm>
#include <cmath>

#include "tensor/error.h"

namespace rondo {

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
