// Weights with noise, and what comes back: optim/averaging.h. Its normal distribution:
// tests/tensor/random_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "optim/averaging.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;

/// Two parameters with gaps in and behind them.
const std::vector<Segment> segments = {
    {.name = "a", .shape = {3, 5}, .offset = 0, .row_stride = 8, .buffer_size = 32},
    {.name = "b", .shape = {7}, .offset = 24, .row_stride = 7, .buffer_size = 32}};

Tensor some_values() {
  const Tensor values = Tensor::zeros({32});
  for (const Segment& segment : segments) fill(part_of(values, segment), real(0.3));
  return values;
}

TEST(WeightNoise, IsAddedToAllWeightsAndTakenBackExactly) {
  const Tensor values = some_values();
  const Numbers before = values.to_vector();
  {
    const NoisyWeights noisy(values, segments, 0.1, {.seed = 3, .update = 4});
    double squares = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      const real now = values.data()[i];
      EXPECT_EQ(now == before[i], before[i] == 0) << "element " << i << ": of a weight or of a gap";
      squares += std::pow(now - before[i], 2);
    }
    EXPECT_NEAR(std::sqrt(squares / 22), 0.1, 0.05);
  }
  EXPECT_EQ(values.to_vector(), before);
}

TEST(WeightNoise, IsAFunctionOfSeedUpdateAndName) {
  const auto noisy = [](double deviation, const RandomKey& key) {
    const Tensor values = some_values();
    const NoisyWeights scope(values, segments, deviation, key);
    return values.to_vector();
  };
  const Numbers first = noisy(0.1, {.seed = 3, .update = 4});
  EXPECT_EQ(noisy(0.1, {.seed = 3, .update = 4}), first);
  EXPECT_NE(noisy(0.1, {.seed = 4, .update = 4}), first);
  EXPECT_NE(noisy(0.1, {.seed = 3, .update = 5}), first);
  EXPECT_NE(first[0], first[24]) << "two parameters";
  EXPECT_EQ(noisy(0, {.seed = 3, .update = 4}), some_values().to_vector());
}

}  // namespace
}  // namespace rondo
