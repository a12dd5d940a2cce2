// Vectors of sentences.
#include "lm/evaluation/vectors.h"

#include <cmath>
#include <numeric>

#include "tensor/error.h"

namespace rondo {

Vectors of_unit_length(Vectors vectors) {
  for (std::int64_t i = 0; i < vectors.size(); ++i) {
    const std::span<float> row = vectors[i];
    const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    if (length == 0) continue;
    for (float& x : row) x = static_cast<float>(static_cast<double>(x) / length);
  }
  return vectors;
}

Vectors pair_features(const Vectors& u, const Vectors& v) {
  check(u.width == v.width && u.size() == v.size(), "[pair features] {} vectors of {} and {} of {}", u.size(),
        u.width, v.size(), v.width);
  Vectors pairs{.width = 2 * u.width};
  pairs.numbers.reserve(2 * u.numbers.size());
  for (std::int64_t i = 0; i < u.size(); ++i) {
    const auto a = u[i], b = v[i];
    for (std::size_t j = 0; j < a.size(); ++j) pairs.numbers.push_back(std::abs(a[j] - b[j]));
    for (std::size_t j = 0; j < a.size(); ++j) pairs.numbers.push_back(a[j] * b[j]);
  }
  return pairs;
}

}  // namespace rondo
