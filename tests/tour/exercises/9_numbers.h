// Exercises of docs/tour/9_numbers.md.
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
  throw Error("exercise 9.1 is not written yet");
}

/// 9.2: how often each symbol is scored, if these ids, which all differ, are read as `count` streams.
inline std::vector<int> times_scored(const std::vector<int32_t>& ids, int64_t count) {
  throw Error("exercise 9.2 is not written yet");
}

}  // namespace rondo::tour
