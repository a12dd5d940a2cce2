// Grades the exercises of docs/tour/9_numbers.md.
#include <9_numbers.h>
#include <gtest/gtest.h>

namespace rondo::tour {

TEST(Tour9, AUniformChoiceHasThePerplexityOfItsSize) {
  const Figures uniform = figures_of({1 / 64.0, 1 / 64.0, 1 / 64.0});
  EXPECT_DOUBLE_EQ(uniform.nats, std::log(64));
  EXPECT_DOUBLE_EQ(uniform.bits, 6);
  EXPECT_NEAR(uniform.perplexity, 64, 1e-9);
  EXPECT_NEAR(figures_of({1, 1 / 16.0}).perplexity, 4, 1e-9);
}

TEST(Tour9, EachSymbolButTheFirstIsScoredOnce) {
  std::vector<int32_t> ids(1000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
  std::vector<int> expected(1000, 1);
  expected[0] = 0;
  for (const int64_t count : {1, 3, 999})
    EXPECT_EQ(times_scored(ids, count), expected) << count << " streams";
}

}  // namespace rondo::tour
