// Solutions of docs/tour/7_regularisation.md.
#include <gtest/gtest.h>

#include <set>

#include "tensor/random.h"
#include "tensor/tensor.h"

namespace rondo {
namespace {

TEST(Tour7, AMaskKeepsTheMean) {
  const Tensor mask({100, 1000});
  fill_dropout_mask(mask, {.seed = 1}, 0.3, BatchSlice{});
  EXPECT_NEAR(sum(mask) / 100'000, 1, 0.01);  // its standard deviation is sqrt(.3 / .7 / 100,000) = .002
  const std::vector<real> values = mask.to_vector();
  const std::set<real> different(values.begin(), values.end());
  EXPECT_EQ(different, (std::set<real>{0, static_cast<real>(1 / 0.7)}));
}

TEST(Tour7, AMicroBatchDrawsItsPartOfTheWhole) {
  constexpr int64_t T = 3, B = 4, W = 5;
  const RandomKey key{.seed = 7, .name = hash_of("rnn.dropout"), .draw = 0, .update = uint64_t{12}};
  const Tensor whole({T, B, W}), part({T, 2, W});
  fill_dropout_mask(whole, key, 0.5, {.batch = B, .first = 0, .whole = B});
  fill_dropout_mask(part, key, 0.5, {.batch = 2, .first = 2, .whole = B});
  for (int64_t t = 0; t < T; ++t)
    EXPECT_EQ(part[t].to_vector(), whole[t].slice(2, 4).to_vector()) << "step " << t;
}

}  // namespace
}  // namespace rondo
