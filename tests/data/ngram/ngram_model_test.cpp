// Back-off and states of n-gram models: data/ngram/ngram_model.h.
#include "data/ngram/ngram_model.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tensor/error.h"

namespace rondo {
namespace {

using Ngrams = std::vector<NgramModel::Ngram>;

/// Of symbols a, b and c (0 to 2) and `<s>` (3), with trigrams: "a b c" is there, "b c" is not.
class Backoff : public testing::Test {
 protected:
  Backoff() : model(3) {
    const double zero = -std::numeric_limits<double>::infinity();
    model.add_order({{0, 0, -1, -0.1}, {0, 1, -2, -0.2}, {0, 2, -3, -0.3}, {0, 3, zero, -0.4}});
    a = *model.find(model.empty_context(), 0);
    b = *model.find(model.empty_context(), 1);
    start = *model.find(model.empty_context(), 3);
    model.add_order({{a, 1, -0.5, -0.05}, {start, 0, -0.6, -0.06}});
    model.add_order({{*model.find(a, 1), 2, -0.7}});
  }
  NgramModel model;
  NgramModel::State a, b, start;
};

TEST_F(Backoff, TakesTheLongestNgramAndWeightsOfLongerContexts) {
  const auto [first, after_a] = model.step(model.line_start(), 0);
  EXPECT_DOUBLE_EQ(first, -0.6);
  const auto [second, after_ab] = model.step(after_a, 1);  // <s> a b: by a b, weight of <s> a
  EXPECT_DOUBLE_EQ(second, -0.06 - 0.5);
  EXPECT_DOUBLE_EQ(model.step(after_ab, 2).log_probability, -0.7);
  EXPECT_DOUBLE_EQ(model.step(after_ab, 0).log_probability, -0.05 - 0.2 - 1);
  EXPECT_DOUBLE_EQ(model.step(model.empty_context(), 2).log_probability, -3);
}

TEST_F(Backoff, StatesAreEqualWhereTheFutureIs) {
  // "b c" is not there, so what follows a b c is what follows c; but for the weights, also a context of its
  // own.
  const auto after = [&](std::vector<std::int32_t> symbols) {
    NgramModel::State state = model.empty_context();
    for (const std::int32_t symbol : symbols) state = model.step(state, symbol).next;
    return state;
  };
  EXPECT_EQ(after({0, 1, 2}), after({2}));
  EXPECT_EQ(after({0, 0, 1}), after({0, 1}));
  EXPECT_NE(after({0, 1}), after({1}));
  EXPECT_NE(after({0}), model.step(model.line_start(), 0).next);
}

TEST_F(Backoff, ListsItsNgrams) {
  EXPECT_EQ(model.order(), 3);
  std::vector<std::vector<std::int32_t>> seen;
  for (int order = 1; order <= 3; ++order) {
    std::int64_t count = 0;
    model.for_each(order, [&](std::span<const std::int32_t> symbols, const NgramModel::Ngram&) {
      ++count;
      if (order > 1) seen.emplace_back(symbols.begin(), symbols.end());
    });
    EXPECT_EQ(count, model.ngrams(order));
  }
  EXPECT_EQ(seen, (std::vector<std::vector<std::int32_t>>{{0, 1}, {3, 0}, {0, 1, 2}}));
}

TEST(NgramModel, RefusesWhatIsNoModel) {
  EXPECT_THROW(NgramModel(0), Error);
  NgramModel model(2);
  EXPECT_THROW(model.step(model.empty_context(), 0), Error);       // no n-grams as yet
  EXPECT_THROW(model.add_order({{0, 0, -1}, {0, 1, -1}}), Error);  // no <s>
  const Ngrams unigrams{{0, 0, -1}, {0, 1, -1}, {0, 2, -1}};
  model.add_order(unigrams);
  EXPECT_THROW(model.step(model.empty_context(), 2), Error);
  EXPECT_THROW(model.step(model.empty_context(), -1), Error);
  const auto refused = [&](const Ngrams& bigrams) {
    NgramModel other(2);
    other.add_order(unigrams);
    EXPECT_THROW(other.add_order(bigrams), Error);
  };
  refused({{1, 1, -1}, {1, 0, -1}});                            // not sorted
  refused({{2, 0, -1}, {1, 0, -1}});                            // nor these
  refused({{1, 1, -1}, {1, 1, -1}});                            // twice
  refused({{0, 1, -1}});                                        // a context of another order
  refused({{4, 1, -1}});                                        // no context
  refused({{1, 2, -1}});                                        // <s> inside
  refused({{1, 1, 0.1}});                                       // p > 1
  refused({{1, 1, std::numeric_limits<double>::quiet_NaN()}});  // no number
  refused({{1, 1, -1, std::numeric_limits<double>::quiet_NaN()}});
}

}  // namespace
}  // namespace rondo
