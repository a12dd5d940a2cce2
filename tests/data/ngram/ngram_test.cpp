// Unigram and bigram cross-entropy: data/ngram/ngram_model.h.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "data/ngram/ngram_model.h"
#include "tensor/error.h"

namespace rondo {
namespace {

using Ids = std::vector<std::int32_t>;

TEST(Ngram, ByHand) {
  // train a b a c (V = 3): counts a 2, b 1, c 1; pairs ab, ba, ac; a is followed twice, b once, c never.
  const Ids train = {0, 1, 0, 2}, valid = {0, 1, 2, 0};  // scored: b after a, c after b, a after c
  const NgramEntropy entropy = ngram_entropy(train, valid, 3);
  EXPECT_NEAR(entropy.unigram, -(std::log(1.1 / 4.3) + std::log(1.1 / 4.3) + std::log(2.1 / 4.3)) / 3, 1e-12);
  EXPECT_NEAR(entropy.bigram, -(std::log(1.1 / 2.3) + std::log(0.1 / 1.3) + std::log(0.1 / 0.3)) / 3, 1e-12);
}

TEST(Ngram, RefusesIdsOutOfRange) {
  EXPECT_THROW(ngram_entropy(Ids{0, 3}, Ids{0, 1}, 3), Error);
  EXPECT_THROW(ngram_entropy(Ids{0, 1}, Ids{0, -1}, 3), Error);
  EXPECT_THROW(ngram_entropy(Ids{0, 1}, Ids{0}, 3), Error);
}

}  // namespace
}  // namespace rondo
