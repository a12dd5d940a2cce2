// Random orders of an epoch: data/text/shuffle.h.
#include "data/text/shuffle.h"

#include <gtest/gtest.h>

#include <numeric>

namespace rondo {
namespace {

// A run that was saved by another build must find its order again. The order is from a generator and a
// shuffle written in Python, from Nishimura & Matsumoto 2000 and Durstenfeld 1964.
TEST(Shuffle, OrderIsTheSameEverywhere) {
  std::vector<int> items(10);
  std::iota(items.begin(), items.end(), 0);
  std::mt19937_64 random = epoch_generator(7, 2);
  shuffle(items, random);
  EXPECT_EQ(items, (std::vector<int>{4, 6, 8, 1, 7, 5, 0, 2, 3, 9}));
}

}  // namespace
}  // namespace rondo
