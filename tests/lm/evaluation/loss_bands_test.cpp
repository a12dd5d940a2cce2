// Losses by position and by the frequency of the symbol: lm/evaluation/loss_bands.h, and how evaluations add
// them up.
#include "lm/evaluation/loss_bands.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "lm/evaluation/adaptive_evaluation.h"
#include "lm/evaluation/evaluation.h"
#include "tests/lm/evaluation/small_model.h"
#include "tests/lm/training/small_training.h"

namespace rondo {
namespace {

TEST(LossBands, AreSinglesAndThenPowersOfTwo) {
  const auto bounds = [](int64_t singles, const std::vector<int64_t>& numbers) {
    LossBands bands(singles);
    for (const int64_t number : numbers) bands.add(number, {1.5, 1});
    std::vector<std::array<int64_t, 3>> found;
    for (const LossBand& it : bands.bands()) {
      EXPECT_EQ(it.loss.nats(), 1.5);
      found.push_back({it.from, it.to, it.loss.symbols});
    }
    return found;
  };
  using Bounds = std::vector<std::array<int64_t, 3>>;
  EXPECT_EQ(bounds(1, {0, 1, 2, 3, 3, 4, 7, 8, 1 << 20}),
            (Bounds{{0, 0, 1}, {1, 1, 1}, {2, 3, 3}, {4, 7, 2}, {8, 15, 1}, {1 << 20, (2 << 20) - 1, 1}}));
  EXPECT_EQ(bounds(4, {1, 2, 3, 4, 7, 8, 15, 16}),
            (Bounds{{1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 7, 2}, {8, 15, 2}, {16, 31, 1}}));
}

TEST(LossBands, ByFrequencyKeepsUnknownSymbolsApart) {
  EXPECT_EQ(occurrences(std::vector<int32_t>{0, 2, 2, 0, 2}, 4), (std::vector<int64_t>{2, 0, 3, 0}));
  const std::vector<LossSum> by_symbol{{2, 1}, {5, 1}, {4, 3}, {0, 0}};
  const FrequencyBands it = by_frequency(by_symbol, {2, 0, 3, 9}, 1);
  ASSERT_EQ(it.known.size(), 1u) << "2 and 3 occurrences are one band; a symbol that is not scored has none";
  EXPECT_EQ(it.known[0].from, 2);
  EXPECT_EQ(it.known[0].to, 3);
  EXPECT_EQ(it.known[0].loss.symbols, 4);
  EXPECT_EQ(it.known[0].loss.nats_sum, 6);
  ASSERT_TRUE(it.unknown);
  EXPECT_EQ(it.unknown->nats_sum, 5);
  EXPECT_EQ(by_frequency(by_symbol, {2, 0, 3, 9}, {}).known.front().from, 0) << "not in the training text";
  EXPECT_THROW(by_frequency(by_symbol, {2}, {}), Error);
}

/// A text of 1500 symbols of 11 types, of which 10 ends a line, read by a model that was not trained.
class LossBandsOfATextTest : public testing::Test {
 protected:
  static constexpr int32_t line_end = 10;
  LossBandsOfATextTest()
      : model(small_model_options(), 11), ids(some_ids(1500)), counts{0, 1, 5, 8, 3, 4, 100, 2, 9, 7, 700} {}

  /// -log p of each id after the first, read from the initial state, one by one.
  std::vector<double> nats_alone(const std::vector<int32_t>& text) {
    const NoGradient no_history;
    model.set_training(false);
    std::vector<double> nats;
    std::vector<State> states = model.initial_states(1);
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      const auto [output, next] = model.forward({tokens({text[i]}), 1, 1}, states);
      const std::vector<real> logits = model.logits(output).value().to_vector();
      double sum = 0;
      for (const real it : logits) sum += std::exp(static_cast<double>(it));
      nats.push_back(std::log(sum) - static_cast<double>(logits[static_cast<size_t>(text[i + 1])]));
      states = next;
    }
    return nats;
  }

  /// EXPECT these sums by position: 1 for the first target of each text.
  void expect_positions(const Evaluation& it, const std::vector<std::vector<int32_t>>& texts) {
    std::map<int64_t, LossSum> expected;  // by position
    for (const std::vector<int32_t>& text : texts) {
      const std::vector<double> nats = nats_alone(text);
      for (size_t i = 0; i < nats.size(); ++i) expected[static_cast<int64_t>(i) + 1] += {nats[i], 1};
    }
    for (const LossBand& band : it.by_position.bands()) {
      LossSum sum;
      for (int64_t position = band.from; position <= band.to; ++position) sum += expected[position];
      EXPECT_EQ(band.loss.symbols, sum.symbols) << band.from;
      EXPECT_NEAR(band.loss.nats_sum, sum.nats_sum, 1e-4 * sum.nats_sum) << band.from;
    }
    expect_total(it, it.by_position.bands());
  }
  /// EXPECT that bands have all symbols, and that their weighted mean is the mean of all.
  static void expect_total(const Evaluation& it, const std::vector<LossBand>& bands,
                           const LossSum& more = {}) {
    LossSum sum = more;
    for (const LossBand& band : bands)
      sum += {band.loss.nats() * static_cast<double>(band.loss.symbols), band.loss.symbols};
    EXPECT_EQ(sum.symbols, it.symbols);
    EXPECT_NEAR(sum.nats(), it.nats(), 1e-13 * it.nats()) << "but for the order of the sum";
  }

  LanguageModel model;
  std::vector<int32_t> ids;
  std::vector<int64_t> counts;
};

TEST_F(LossBandsOfATextTest, OfOneStream) {
  const Evaluation it = evaluate_ids(model, ids, {});
  EXPECT_EQ(it.by_position.bands().back().from, 1024);
  EXPECT_EQ(it.by_position.bands()[1].to, 3);
  expect_positions(it, {ids});
}

TEST_F(LossBandsOfATextTest, OfStreams) {
  const Evaluation it = evaluate_ids(model, ids, {.streams = 2});
  const auto middle = ids.begin() + 750;  // 750 and 749 targets
  expect_positions(it, {{ids.begin(), middle + 1}, {middle, ids.end()}});
}

TEST_F(LossBandsOfATextTest, OfSequences) {
  const Evaluation it = evaluate_ids(model, ids, {.sequence = 40});
  std::vector<std::vector<int32_t>> texts;
  for (size_t begin = 0; begin + 1 < ids.size(); begin += 40)
    texts.emplace_back(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                       ids.begin() + static_cast<std::ptrdiff_t>(std::min(begin + 41, ids.size())));
  EXPECT_EQ(it.by_position.bands()[30].to, 31) << "a band each";
  EXPECT_EQ(it.by_position.bands()[31].from, 32);
  EXPECT_EQ(it.by_position.bands()[31].to, 63);
  expect_positions(it, texts);
}

TEST_F(LossBandsOfATextTest, OfLines) {
  const Evaluation it = evaluate_ids(model, ids, {.line_end = line_end});
  std::vector<std::vector<int32_t>> texts(1, {line_end});
  for (const int32_t id : ids) {
    texts.back().push_back(id);
    if (id == line_end) texts.push_back({line_end});
  }
  expect_positions(it, texts);
}

TEST_F(LossBandsOfATextTest, ByFrequency) {
  const std::vector<double> nats = nats_alone(ids);
  const int32_t unknown = 6;
  for (const bool adapts : {false, true}) {
    const Evaluation it = adapts
                              ? evaluate_adaptively(model, ids, {.cache = CacheOptions{200, 1, 0.2}}, unknown)
                              : evaluate_ids(model, ids, {}, unknown);
    const LossBreakdown found = it.breakdown(counts, unknown);
    ASSERT_TRUE(found.by_frequency.unknown);
    EXPECT_EQ(found.by_frequency.unknown->symbols, it.unknowns);
    expect_total(it, found.by_frequency.known, *found.by_frequency.unknown);
    expect_total(it, found.by_position);
    for (const LossBand& band : found.by_frequency.known) {
      LossSum sum;
      for (size_t i = 0; i < nats.size(); ++i) {
        const int64_t count = counts[static_cast<size_t>(ids[i + 1])];
        if (ids[i + 1] != unknown && count >= band.from && count <= band.to) sum += {nats[i], 1};
      }
      EXPECT_EQ(band.loss.symbols, sum.symbols) << band.from;
      if (!adapts) {
        EXPECT_NEAR(band.loss.nats_sum, sum.nats_sum, 1e-4 * sum.nats_sum) << band.from;
      }
    }
  }
  EXPECT_TRUE(evaluate_ids(model, ids, {}).breakdown({}, {}).by_frequency.known.empty())
      << "no counts are known";
}

}  // namespace
}  // namespace rondo
