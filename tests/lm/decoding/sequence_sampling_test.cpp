// Sampled sentences: frequencies, seeds and batches: lm/decoding/sampling.h.
#include "lm/decoding/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lm/decoding/beam_search.h"
#include "tensor/error.h"
#include "tests/lm/decoding/toy_predictor.h"

namespace rondo {
namespace {

std::vector<Hypothesis> sampled(const std::vector<ToyTable>& tables, const SamplingOptions& options,
                                const std::vector<int64_t>& numbers, int64_t max_length = 50,
                                const SearchSymbols& symbols = only_end) {
  ToyPredictor predictor(tables);
  return sample_sentences(predictor, symbols, options, max_length, numbers);
}

TEST(SampleSentences, DrawsSymbolsByTheirProbabilities) {
  constexpr int64_t count = 4000;
  const ToyTable table = ToyTable::random(12);
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<Hypothesis> sentences = sampled({count, table}, {}, numbers);
  // The first symbol, and the second one after the most frequent first one.
  std::vector<int64_t> first(5), second(5);
  const auto symbol = [](const Hypothesis& it, size_t i) {
    return static_cast<size_t>(i < it.ids.size() ? it.ids[i] : ToyTable::end);
  };
  for (const Hypothesis& it : sentences) ++first[symbol(it, 0)];
  const auto most = std::max_element(first.begin() + 1, first.end()) - first.begin();
  for (const Hypothesis& it : sentences)
    if (symbol(it, 0) == static_cast<size_t>(most)) ++second[symbol(it, 1)];
  const auto expect_frequencies = [](const std::vector<int64_t>& counts, const auto& log_p) {
    const auto n = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    for (size_t v = 0; v < counts.size(); ++v) {
      const double p = std::exp(log_p(static_cast<int64_t>(v)));
      EXPECT_NEAR(static_cast<double>(counts[v]) / n, p, 4 * std::sqrt(p * (1 - p) / n)) << v;
    }
  };
  expect_frequencies(first, [&](int64_t v) { return table(0, 0, v); });
  expect_frequencies(second, [&](int64_t v) { return table(0, most, v); });

  for (const Hypothesis& it : sentences) {
    double log_p = it.finished ? table.after(it.ids, ToyTable::end) : 0;
    for (size_t t = 0; t < it.ids.size(); ++t)
      log_p += table.after({it.ids.begin(), it.ids.begin() + static_cast<int64_t>(t)}, it.ids[t]);
    ASSERT_NEAR(it.log_p, log_p, 1e-9);
    ASSERT_EQ(it.score, it.log_p);
  }
}

TEST(SampleSentences, DoNotDependOnTheirBatch) {
  const std::vector<ToyTable> tables{ToyTable::random(1), ToyTable::random(2), ToyTable::random(3)};
  const std::vector<int64_t> numbers{7, 3, 1'000'000};
  bool seeds_differ = false;
  for (uint64_t seed = 1; seed < 6; ++seed) {
    const SamplingOptions options{.temperature = 1.2, .top_k = 4, .seed = seed};
    const std::vector<Hypothesis> together = sampled(tables, options, numbers);
    for (size_t b = 0; b < tables.size(); ++b) {
      const std::vector<Hypothesis> alone = sampled({tables[b]}, options, {numbers[b]});
      EXPECT_EQ(together[b].ids, alone[0].ids);
      EXPECT_EQ(together[b].log_p, alone[0].log_p);
    }
    seeds_differ |= together[0].ids != sampled(tables, {.temperature = 1.2, .top_k = 4}, numbers)[0].ids;
  }
  EXPECT_TRUE(seeds_differ);
  // Of one distribution, other numbers give other sentences.
  std::vector<std::vector<int32_t>> different;
  std::vector<int64_t> many(20);
  std::iota(many.begin(), many.end(), 0);
  for (const Hypothesis& it : sampled({many.size(), tables[0]}, {}, many))
    if (std::count(different.begin(), different.end(), it.ids) == 0) different.push_back(it.ids);
  EXPECT_GT(different.size(), 5u);
}

TEST(SampleSentences, AtTemperatureZeroAreGreedy) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const std::vector<ToyTable> tables{ToyTable::random(2 * seed), ToyTable::random(2 * seed + 1)};
    const std::vector<Hypothesis> sentences = sampled(tables, {.temperature = 0}, {0, 1}, 10);
    ToyPredictor predictor(tables);
    const auto greedy = beam_search(predictor, only_end, {.beam = 1, .max_length = 10});
    for (size_t b = 0; b < tables.size(); ++b) {
      EXPECT_EQ(sentences[b].ids, greedy[b][0].ids);
      EXPECT_EQ(sentences[b].finished, greedy[b][0].finished);
    }
  }
}

TEST(SampleSentences, ContainUnknownOnlyIfAllowedAndAreCutOff) {
  const ToyTable table = ToyTable::random(4);
  const SearchSymbols symbols{.end = ToyTable::end, .unknown = 1};
  int64_t unknowns = 0, allowed = 0, cut_off = 0;
  for (int64_t number = 0; number < 40; ++number) {
    const Hypothesis without = sampled({table}, {}, {number}, 5, symbols)[0];
    const Hypothesis with = sampled({table}, {.allow_unknown = true}, {number}, 5, symbols)[0];
    unknowns += std::count(without.ids.begin(), without.ids.end(), 1);
    allowed += std::count(with.ids.begin(), with.ids.end(), 1);
    EXPECT_LE(with.ids.size(), with.finished ? 4u : 5u);
    cut_off += !with.finished && with.ids.size() == 5;
  }
  EXPECT_EQ(unknowns, 0);
  EXPECT_GT(allowed, 0);
  EXPECT_GT(cut_off, 0);
}

TEST(SampleSentences, RefuseWhatCannotBe) {
  ToyTable table = ToyTable::random(4);
  EXPECT_THROW(sampled({table}, {}, {0, 1}), Error);
  EXPECT_THROW(sampled({table}, {}, {0}, 0), Error);
  std::fill(table.log_p.begin(), table.log_p.end(), -std::numeric_limits<real>::infinity());
  EXPECT_THROW(sampled({table}, {}, {0}), Error);
}

}  // namespace
}  // namespace rondo
