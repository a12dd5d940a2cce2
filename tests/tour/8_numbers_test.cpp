// Solutions of docs/tour/8_numbers.md.
#include <gtest/gtest.h>

#include <cmath>

#include "data/text/streams.h"
#include "lm/evaluation/evaluation.h"

namespace rondo {
namespace {

TEST(Tour8, AUniformChoiceHasThePerplexityOfItsSize) {
  constexpr double V = 64;
  Evaluation evaluation;
  evaluation.add({5, 17, 63}, {std::log(V), std::log(V), std::log(V)}, {});
  EXPECT_DOUBLE_EQ(evaluation.nats(), std::log(V));
  EXPECT_DOUBLE_EQ(evaluation.bits(), 6);
  EXPECT_NEAR(evaluation.perplexity(), V, 1e-9);
}

TEST(Tour8, EachSymbolButTheFirstIsScoredOnce) {
  std::vector<int32_t> ids(1000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
  for (const int64_t count : {1, 3, 999}) {
    Streams streams = Streams::for_evaluation(ids, count);
    std::vector<int> scored(ids.size());
    Chunk chunk;
    while (streams.next(20, chunk))
      for (const int32_t target : chunk.targets)
        if (target != Chunk::ignore_index) ++scored[static_cast<size_t>(target)];
    EXPECT_EQ(scored[0], 0);
    EXPECT_EQ(std::vector(scored.begin() + 1, scored.end()), std::vector(999, 1)) << count << " streams";
  }
}

}  // namespace
}  // namespace rondo
