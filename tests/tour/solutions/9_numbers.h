// Solutions of docs/tour/9_numbers.md.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "data/text/streams.h"
#include "tensor/error.h"

namespace rondo::tour {

struct Figures {
  double nats, bits, perplexity;
};

/// 9.1: of a text to whose symbols a model has given these probabilities.
inline Figures figures_of(const std::vector<double>& probabilities) {
  double nats = 0;
  for (const double p : probabilities) nats -= std::log(p) / static_cast<double>(probabilities.size());
  return {nats, nats / std::log(2), std::exp(nats)};
}

/// 9.2: how often each symbol is scored, if these ids, which all differ, are read as `count` streams.
inline std::vector<int> times_scored(const std::vector<int32_t>& ids, int64_t count) {
  Streams streams = Streams::for_evaluation(ids, count);
  std::vector<int> scored(ids.size());
  Chunk chunk;
  while (streams.next(20, chunk))
    for (const int32_t target : chunk.targets)
      if (target != Chunk::ignore_index) ++scored[static_cast<size_t>(target)];
  return scored;
}

}  // namespace rondo::tour
