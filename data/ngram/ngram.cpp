// Unigram and bigram models; see data/ngram/ngram.h.
#include "data/ngram/ngram.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "tensor/error.h"

namespace rondo {

NgramEntropy ngram_entropy(std::span<const std::int32_t> train, std::span<const std::int32_t> valid,
                           std::int64_t vocabulary_size) {
  constexpr double smoothing = 0.1;
  const std::int64_t V = vocabulary_size;
  const auto fits = [&](auto ids) {
    return ids.size() >= 2 && std::all_of(ids.begin(), ids.end(), [&](auto id) { return id >= 0 && id < V; });
  };
  check(fits(train) && fits(valid),
        "[ngram] two texts of 2 or more ids in [0, {}) were expected: {} and {} ids", V, train.size(),
        valid.size());

  const auto index = [](std::int32_t id) { return static_cast<std::size_t>(id); };
  const auto pair = [&](std::int32_t x, std::int32_t y) { return x * V + y; };
  std::vector<double> count(index(static_cast<std::int32_t>(V))), followed(count);
  std::unordered_map<std::int64_t, double> pairs;
  for (std::size_t i = 0; i < train.size(); ++i) {
    count[index(train[i])] += 1;
    if (i + 1 == train.size()) continue;
    followed[index(train[i])] += 1;
    pairs[pair(train[i], train[i + 1])] += 1;
  }

  const double room = smoothing * static_cast<double>(V), N = static_cast<double>(train.size());
  NgramEntropy entropy;
  for (std::size_t i = 1; i < valid.size(); ++i) {
    const std::int32_t x = valid[i - 1], y = valid[i];
    const auto found = pairs.find(pair(x, y));
    const double both = found == pairs.end() ? 0 : found->second;
    entropy.unigram -= std::log((count[index(y)] + smoothing) / (N + room));
    entropy.bigram -= std::log((both + smoothing) / (followed[index(x)] + room));
  }
  const double scored = static_cast<double>(valid.size() - 1);
  return {entropy.unigram / scored, entropy.bigram / scored};
}

}  // namespace rondo
