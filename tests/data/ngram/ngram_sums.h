// Whether an n-gram model's probabilities sum to one. Not for anything but tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <set>

#include "data/ngram/ngram_model.h"

namespace rondo {

/// Expects it of the begin of a line, of no context, and of the states along random symbols, many of which
/// the model has not seen after each other.
inline void expect_sums_to_one(const NgramModel& model, double tolerance) {
  std::set<NgramModel::State> states{model.empty_context(), model.line_start()};
  std::mt19937 random(1);
  NgramModel::State state = model.line_start();
  for (int i = 0; i < 500; ++i) {
    const auto symbol = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(model.symbols()));
    states.insert(state = model.step(state, symbol).next);
  }
  for (const NgramModel::State context : states) {
    double sum = 0;
    for (std::int32_t symbol = 0; symbol < model.symbols(); ++symbol)
      sum += std::exp(model.step(context, symbol).log_probability);
    EXPECT_NEAR(sum, 1, tolerance) << "state " << context;
  }
}

}  // namespace rondo
