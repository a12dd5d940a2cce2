// Grades the exercises of docs/tour/8_regularisation.md.
#include <8_regularisation.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace rondo::tour {

TEST(Tour8, AMaskKeepsTheMean) {
  const Tensor mask({100'000});
  draw_mask(mask, 0.3, {.seed = 1});
  EXPECT_NEAR(sum(mask) / 100'000, 1, 0.01);  // its standard deviation is sqrt(.3 / .7 / 100,000) = .002
  const std::vector<real> values = mask.to_vector();
  const std::set<real> different(values.begin(), values.end());
  EXPECT_EQ(different, (std::set<real>{0, static_cast<real>(1 / 0.7)}));
}

TEST(Tour8, AUnitThatIsDroppedIsDroppedAtEachStep) {
  const Tensor x({2, 2, 3}), mask = Tensor::from({0, 2, 2, 2, 0, 2}, {2, 3});
  fill(x, 3);
  EXPECT_EQ(dropped(x, mask).to_vector(), (std::vector<real>{0, 6, 6, 6, 0, 6, 0, 6, 6, 6, 0, 6}));
}

}  // namespace rondo::tour
