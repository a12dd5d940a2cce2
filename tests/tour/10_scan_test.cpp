// Solutions of docs/tour/10_scan.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "autograd/functions.h"
#include "tensor/random.h"

namespace rondo {
namespace {

struct Pair {
  real a, b;
};
Pair in_turn(Pair first, Pair second) { return {second.a * first.a, second.a * first.b + second.b}; }

TEST(Tour10, AScanInRoundsGivesWhatTheLoopGives) {
  constexpr int64_t T = 8;
  const Tensor a({T, 1, 1}), b({T, 1, 1}), h0 = Tensor::filled({1, 1}, real(0.5));
  fill_uniform(a, {.seed = 1}, 0, 1);
  fill_uniform(b, {.seed = 2}, -1, 1);
  std::vector<Pair> pairs;
  for (int64_t t = 0; t < T; ++t) pairs.push_back({a.data()[t], b.data()[t]});

  int rounds = 0, multiplications = 0;
  for (int64_t distance = 1; distance < T; distance *= 2, ++rounds)
    for (int64_t t = T - 1; t >= distance;
         --t, multiplications += 2)  // the earlier ones are not yet replaced
      pairs[t] = in_turn(pairs[t - distance], pairs[t]);
  EXPECT_EQ(rounds, 3);
  EXPECT_EQ(multiplications, 2 * (7 + 6 + 4));  // and then T for h0; the loop needs T in all

  const Tensor h = scan(a, b, h0).value();
  for (int64_t t = 0; t < T; ++t) EXPECT_NEAR(pairs[t].a * real(0.5) + pairs[t].b, h.data()[t], 1e-6);
}

// With a = b = 1/2, from 0: h of step t is 1 - 2^-t, the product of the a 2^-t, and b over it 2^(t - 1).
TEST(Tour10, QuotientsOverflowAndLogarithmsDoNot) {
  constexpr int T = 200;
  float h = 0, product = 1, quotients = 0, log_product = 0,
        log_quotients = -std::numeric_limits<float>::infinity();
  int first_wrong = 0;
  for (int t = 1; t <= T; ++t) {
    h = 0.5f * h + 0.5f;
    product *= 0.5f;
    quotients += 0.5f / product;
    if (first_wrong == 0 && std::abs(product * quotients - h) > 1e-6f) first_wrong = t;
    log_product += std::log(0.5f);
    const float next = std::log(0.5f) - log_product, largest = std::max(log_quotients, next);
    log_quotients = largest + std::log(std::exp(log_quotients - largest) + std::exp(next - largest));
  }
  EXPECT_EQ(first_wrong, 128);                   // the sum of the quotients is 2^128 - 1, beyond all floats
  EXPECT_TRUE(std::isnan(product * quotients));  // 0 times infinity
  EXPECT_EQ(h, 1.0f);
  EXPECT_NEAR(std::exp(log_product + log_quotients), 1.0f, 1e-4f);
}

}  // namespace
}  // namespace rondo
