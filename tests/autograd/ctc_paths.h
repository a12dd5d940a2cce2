// The probability of labels by the definition of CTC: the sum over all paths, one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace rondo {

using Labelling = std::vector<int32_t>;

/// (2) and (3) of Graves et al. 2006: the probability of each labelling of T frames by all V^T paths. y[t][k]
/// is the probability of symbol k in frame t; symbol 0 is the blank.
inline std::map<Labelling, double> probabilities_by_all_paths(const std::vector<std::vector<double>>& y) {
  const size_t T = y.size(), V = y[0].size();
  std::map<Labelling, double> sums;
  std::vector<size_t> path(T, 0);
  for (size_t t = 0; t < T;) {
    double probability = 1;
    Labelling labels;
    for (size_t s = 0; s < T; ++s) {
      probability *= y[s][path[s]];
      if (path[s] != 0 && (s == 0 || path[s] != path[s - 1])) labels.push_back(static_cast<int32_t>(path[s]));
    }
    sums[labels] += probability;
    for (t = 0; t < T && ++path[t] == V; ++t) path[t] = 0;
  }
  return sums;
}

}  // namespace rondo
