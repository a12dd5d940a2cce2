// The best continuations, against sorting all of them: lm/decoding/beam_search.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "lm/decoding/beam_search.h"

namespace rondo {
namespace {

std::vector<Candidate> found(const std::vector<real>& data, int64_t stride, int64_t symbols,
                             const std::vector<double>& log_p, int64_t count,
                             std::optional<int32_t> banned = {}) {
  std::vector<Candidate> best(3);  // replaced
  find_best({data.data(), stride, symbols}, log_p, count, banned, best);
  return best;
}

TEST(Candidates, AreTheFirstOfAllInOrder) {
  constexpr int64_t symbols = 50, stride = 53;
  const real zero = -std::numeric_limits<real>::infinity();
  std::mt19937 engine(1);
  for (const int64_t count : {1, 2, 7, 60, 1000}) {
    const std::vector<double> log_p{-0.5, -0.5, -1.25};
    std::vector<real> data(static_cast<size_t>(stride * std::ssize(log_p)), 0);  // the gaps are the best
    std::vector<Candidate> all;
    for (int64_t k = 0; k < std::ssize(log_p); ++k)
      for (int64_t v = 0; v < symbols; ++v) {
        const uint32_t drawn = engine() % 12;  // each value several times
        const real value = drawn == 0 ? zero : static_cast<real>(drawn) / 4 - 4;
        data[static_cast<size_t>(k * stride + v)] = value;
        if (drawn > 0 && v != 3)
          all.push_back({log_p[static_cast<size_t>(k)] + value, k, static_cast<int32_t>(v)});
      }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.log_p > b.log_p; });
    if (std::ssize(all) > count) all.resize(static_cast<size_t>(count));

    const std::vector<Candidate> best = found(data, stride, symbols, log_p, count, 3);
    ASSERT_EQ(best.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(best[i].log_p, all[i].log_p);
      EXPECT_EQ(best[i].hypothesis, all[i].hypothesis) << i;
      EXPECT_EQ(best[i].symbol, all[i].symbol) << i;
    }
  }
}

TEST(Candidates, BannedSymbolIsOneOnlyIfAllowed) {
  EXPECT_EQ(found({-3, -1, -2}, 3, 3, {0}, 1).front().symbol, 1);
  EXPECT_EQ(found({-3, -1, -2}, 3, 3, {0}, 1, 1).front().symbol, 2);
}

TEST(Candidates, WhatIsNotANumberIsTheOnlyOne) {
  const real nan = std::numeric_limits<real>::quiet_NaN();
  const std::vector<Candidate> best = found({-3, -1, -2, nan}, 2, 2, {0, 0}, 2);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_TRUE(std::isnan(best.front().log_p));
  EXPECT_EQ(best.front().hypothesis, 1);
  EXPECT_EQ(best.front().symbol, 1);
}

}  // namespace
}  // namespace rondo
