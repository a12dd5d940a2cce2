// Grades the exercises of docs/tour/11_scan.md.
#include <11_scan.h>
#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "tensor/random.h"

namespace rondo::tour {

TEST(Tour11, AScanInRoundsGivesWhatTheLoopGives) {
  constexpr int64_t T = 8;
  const Tensor a({T, 1, 1}), b({T, 1, 1}), h0 = Tensor::filled({1, 1}, real(0.5));
  fill_uniform(a, {.seed = 1}, 0, 1);
  fill_uniform(b, {.seed = 2}, -1, 1);
  std::vector<Pair> steps;
  for (int64_t t = 0; t < T; ++t) steps.push_back({a.data()[t], b.data()[t]});
  const Scanned scanned = scan_in_rounds(steps);
  EXPECT_EQ(scanned.multiplications, 2 * (7 + 6 + 4));  // and then T for h0; the loop needs T in all
  const Tensor h = scan(a, b, h0).value();
  for (int64_t t = 0; t < T; ++t)
    EXPECT_NEAR(scanned.pairs.at(t).a * real(0.5) + scanned.pairs[t].b, h.data()[t], 1e-6);
}

// The state is 1 - 2^-t, the product of the a is 2^-t, and b over it 2^(t - 1).
TEST(Tour11, QuotientsOverflowAndLogarithmsDoNot) {
  EXPECT_NEAR(by_quotients(127), 1, 1e-6);
  EXPECT_GT(std::abs(by_quotients(128) - 1),
            1e-6);                             // the sum of the quotients is 2^128 - 1, beyond all floats
  EXPECT_TRUE(std::isnan(by_quotients(200)));  // 0 times infinity
  for (const int T : {1, 127, 128, 200}) EXPECT_NEAR(by_logarithms(T), 1 - std::pow(0.5, T), 1e-4);
}

}  // namespace rondo::tour
