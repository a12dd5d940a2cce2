// Beam search against the enumeration of all sentences, and against a search by lists of whole sentences that
// are sorted in each step: lm/decoding/beam_search.h.
#include "lm/decoding/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "tensor/error.h"
#include "tensor/threads.h"
#include "tests/lm/decoding/toy_predictor.h"

namespace rondo {
namespace {

constexpr int32_t no_symbol = -1;

std::vector<ToyTable> three_tables(uint32_t seed, int64_t positions = 0) {
  return {ToyTable::random(3 * seed, 5, positions), ToyTable::random(3 * seed + 1, 5, positions / 2),
          ToyTable::random(3 * seed + 2, 5, positions)};
}

std::vector<std::vector<Hypothesis>> search(const std::vector<ToyTable>& tables, const BeamOptions& options,
                                            const SearchSymbols& symbols = only_end) {
  ToyPredictor predictor(tables);
  return beam_search(predictor, symbols, options);
}

/// Equation 14 of Wu et al. 2016, word for word.
double score_of(const Hypothesis& it, const BeamOptions& options) {
  const size_t length = it.ids.size() + (it.finished ? 1 : 0);
  const double lp = std::pow(5.0 + static_cast<double>(length), options.length_penalty) /
                    std::pow(5.0 + 1.0, options.length_penalty);
  return it.log_p / lp;
}

void sort_by_score(const BeamOptions& options, std::vector<Hypothesis>& list) {
  for (Hypothesis& it : list) it.score = score_of(it, options);
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return a.score > b.score; });
}

/// All sentences of at most max_length symbols, the n_best first; then those that are cut off.
std::vector<Hypothesis> best_of_all(const ToyTable& table, const BeamOptions& options, int32_t banned) {
  std::vector<Hypothesis> finished, cut_off;
  const std::function<void(const Hypothesis&)> visit = [&](const Hypothesis& sentence) {
    if (std::ssize(sentence.ids) == options.max_length) return cut_off.push_back(sentence);
    for (int32_t symbol = 0; symbol < table.symbols; ++symbol) {
      if (symbol == banned) continue;
      Hypothesis longer = sentence;
      longer.log_p += table.after(sentence.ids, symbol);
      if (symbol == ToyTable::end) {
        longer.finished = true;
        finished.push_back(longer);
      } else {
        longer.ids.push_back(symbol);
        visit(longer);
      }
    }
  };
  visit({});
  sort_by_score(options, finished);
  sort_by_score(options, cut_off);
  finished.insert(finished.end(), cut_off.begin(), cut_off.end());
  finished.resize(std::min(finished.size(), static_cast<size_t>(options.n_best)));
  return finished;
}

/// Beam search, written without a thought of what it costs.
std::vector<Hypothesis> plain_beam_search(const ToyTable& table, const BeamOptions& options) {
  std::vector<Hypothesis> live{{}}, finished;
  const double longest =
      std::pow((5.0 + static_cast<double>(options.max_length)) / 6.0, options.length_penalty);
  for (int64_t step = 1; step <= options.max_length; ++step) {
    std::vector<Hypothesis> all, next;
    for (const Hypothesis& it : live)
      for (int32_t symbol = 0; symbol < table.symbols; ++symbol) {
        all.push_back(it);
        all.back().log_p += table.after(it.ids, symbol);
        all.back().ids.push_back(symbol);
      }
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.log_p > b.log_p; });
    for (size_t rank = 0; rank < all.size(); ++rank) {
      Hypothesis& it = all[rank];
      if (it.ids.back() != ToyTable::end) {
        if (std::ssize(next) < options.beam) next.push_back(it);
      } else if (static_cast<int64_t>(rank) < options.beam) {
        it.ids.pop_back();
        it.finished = true;
        finished.push_back(it);
      }
    }
    live = next;
    sort_by_score(options, finished);
    sort_by_score(options, live);
    if (std::ssize(finished) >= options.n_best) {
      const double last = finished[static_cast<size_t>(options.n_best - 1)].score;
      if (next[0].log_p / longest <= last) break;
      if (std::ssize(finished) >= options.beam && live[0].score <= last) break;
    }
    live = next;  // by log p
  }
  sort_by_score(options, live);
  finished.insert(finished.end(), live.begin(), live.end());
  finished.resize(static_cast<size_t>(options.n_best));
  return finished;
}

void expect_same(const std::vector<Hypothesis>& found, const std::vector<Hypothesis>& expected,
                 const std::string& where) {
  ASSERT_EQ(found.size(), expected.size()) << where;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].ids, expected[i].ids) << where << ", " << i;
    EXPECT_EQ(found[i].finished, expected[i].finished) << where << ", " << i;
    EXPECT_NEAR(found[i].log_p, expected[i].log_p, 1e-9) << where << ", " << i;
    EXPECT_NEAR(found[i].score, expected[i].score, 1e-9) << where << ", " << i;
    EXPECT_EQ(found[i].attention, expected[i].attention) << where << ", " << i;
  }
}

TEST(BeamSearch, OfABeamForEverythingFindsTheBestOfAllSentences) {
  for (uint32_t seed = 0; seed < 2; ++seed) {
    const std::vector<ToyTable> tables = three_tables(seed, 6);
    for (const double penalty : {0.0, 0.6, 2.0}) {
      BeamOptions options{.beam = 6000, .n_best = 20, .length_penalty = penalty, .max_length = 6};
      std::vector<std::vector<Hypothesis>> expected;
      for (const ToyTable& table : tables) expected.push_back(best_of_all(table, options, no_symbol));
      for (const int64_t n_best : {20, 3, 1}) {  // the fewer, the sooner a search is done
        options.n_best = n_best;
        const auto found = search(tables, options);
        for (size_t b = 0; b < tables.size(); ++b) {
          expected[b].resize(static_cast<size_t>(n_best));
          expect_same(found[b], expected[b],
                      fmt::format("seed {}, {}, {}, sentence {}", seed, penalty, n_best, b));
        }
      }
    }
  }
}

TEST(BeamSearch, OfNarrowBeamsIsTheSearchOfItsDescription) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const std::vector<ToyTable> tables = three_tables(seed, 6);
    for (const int64_t beam : {1, 2, 3, 4})
      for (const int64_t n_best : {int64_t{1}, beam})
        for (const double penalty : {0.0, 0.3, 1.0}) {
          const BeamOptions options{
              .beam = beam, .n_best = n_best, .length_penalty = penalty, .max_length = 9};
          const auto found = search(tables, options);
          for (size_t b = 0; b < tables.size(); ++b)
            expect_same(found[b], plain_beam_search(tables[b], options),
                        fmt::format("seed {}, beam {}, {}, {}, sentence {}", seed, beam, n_best, penalty, b));
        }
  }
}

/// Writes symbol 1 `length` times, at most twice, and then the end; anything else has log p -10.
ToyTable counting(int length) {
  ToyTable table = ToyTable::random(1);
  std::ranges::fill(table.log_p, static_cast<real>(-10));
  table.at(0, 0, length > 0 ? 1 : ToyTable::end) = 0;
  table.at(0, 1, length > 1 ? 1 : ToyTable::end) = 0;
  table.at(1, 1, ToyTable::end) = 0;
  return table;
}

TEST(BeamSearch, AsksNothingOfFinishedSentences) {
  ToyPredictor greedy({counting(0), counting(2), counting(1)});
  const auto found = beam_search(greedy, only_end, {.beam = 1});
  EXPECT_EQ(greedy.calls, (std::vector<int64_t>{3, 2, 1}));
  EXPECT_EQ(found[0][0].ids, (std::vector<int32_t>{}));
  EXPECT_EQ(found[1][0].ids, (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(found[2][0].ids, (std::vector<int32_t>{1}));

  ToyPredictor wide({counting(2), counting(0)});  // a hypothesis each, then two of the first sentence
  const auto best = beam_search(wide, only_end, {.beam = 2, .length_penalty = 0});
  EXPECT_EQ(wide.calls, (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(best[0][0].ids, (std::vector<int32_t>{1, 1}));  // although two others finished before it
}

TEST(BeamSearch, CutsOffAtTheMaximalLength) {
  ToyTable endless = ToyTable::random(5);
  const auto zero = -std::numeric_limits<real>::infinity();
  for (int64_t a = 0; a < 5; ++a)
    for (int64_t b = 0; b < 5; ++b) endless.at(a, b, ToyTable::end) = zero;
  const auto found = search({endless}, {.beam = 3, .n_best = 2, .max_length = 7});
  ASSERT_EQ(found[0].size(), 2u);
  for (const Hypothesis& it : found[0]) {
    EXPECT_EQ(it.ids.size(), 7u);
    EXPECT_FALSE(it.finished);
  }
  EXPECT_GE(found[0][0].score, found[0][1].score);

  // All sentences: finished ones first, though those that were cut off may score higher.
  const ToyTable table = ToyTable::random(6, 5, 3);
  const BeamOptions all{.beam = 40, .n_best = 40, .max_length = 2};
  const std::vector<Hypothesis> expected = best_of_all(table, all, no_symbol);
  EXPECT_EQ(expected.size(), 1u + 4u + 16u);
  expect_same(search({table}, all)[0], expected, "all");

  const auto one = search({table}, {.beam = 1, .max_length = 1});
  EXPECT_LE(one[0][0].ids.size(), 1u);
}

TEST(BeamSearch, ChoosesTheUnknownSymbolOnlyIfAllowed) {
  const SearchSymbols symbols{.end = ToyTable::end, .unknown = 2};
  int with_unknown = 0;
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const ToyTable table = ToyTable::random(seed);
    BeamOptions options{.beam = 6000, .n_best = 10, .max_length = 5};
    expect_same(search({table}, options, symbols)[0], best_of_all(table, options, 2), "banned");
    options.allow_unknown = true;
    const std::vector<Hypothesis> allowed = search({table}, options, symbols)[0];
    expect_same(allowed, best_of_all(table, options, no_symbol), "allowed");
    for (const Hypothesis& it : allowed) with_unknown += std::ranges::count(it.ids, 2) > 0;
  }
  EXPECT_GT(with_unknown, 0);
}

TEST(BeamSearch, EqualsComeInTheOrderOfHypothesisAndSymbol) {
  ToyTable equal = ToyTable::random(1, 4);
  std::ranges::fill(equal.log_p, static_cast<real>(-1));
  const auto ids = [&](const BeamOptions& options) {
    std::vector<std::vector<int32_t>> result;
    const std::vector<Hypothesis> found = search({equal}, options)[0];
    for (const Hypothesis& it : found) result.push_back(it.ids);
    return result;
  };
  using Ids = std::vector<std::vector<int32_t>>;
  // Step 1: the end, 1, 2, 3. Step 2: of 1, then of 2, the end, and 1, 2, 3. Their ends are 1st and 5th.
  EXPECT_EQ(ids({.beam = 6, .n_best = 3, .length_penalty = 0, .max_length = 2}), (Ids{{}, {1}, {2}}));
  EXPECT_EQ(ids({.beam = 3, .n_best = 3, .length_penalty = 0, .max_length = 3}), (Ids{{}, {1}, {1, 1}}));
  EXPECT_EQ(ids({.beam = 3, .n_best = 3, .length_penalty = 0, .max_length = 2}), (Ids{{}, {1}, {1, 1}}));
}

TEST(BeamSearch, ReturnsFewerWhereOthersHaveProbabilityZero) {
  ToyTable table = counting(1);
  for (real& it : table.log_p)
    if (it < 0) it = -std::numeric_limits<real>::infinity();
  const ToyTable other = ToyTable::random(9);  // keeps the grid wide
  const auto found = search({table, other}, {.beam = 4, .n_best = 3});
  ASSERT_EQ(found[0].size(), 1u);
  EXPECT_EQ(found[0][0].ids, std::vector<int32_t>{1});
  EXPECT_EQ(found[0][0].log_p, 0);
  expect_same(found[1], search({other}, {.beam = 4, .n_best = 3})[0], "other");
}

TEST(BeamSearch, ReturnsAttentionIfAsked) {
  const std::vector<ToyTable> tables = three_tables(4, 4);
  BeamOptions options{.beam = 3, .n_best = 2, .max_length = 4};
  EXPECT_TRUE(search(tables, options)[0][0].attention.empty());
  options.attention = true;
  const auto found = search(tables, options);
  for (size_t b = 0; b < tables.size(); ++b)
    for (const Hypothesis& it : found[b]) {
      std::vector<std::vector<float>> expected;
      for (size_t t = 0; t < it.ids.size() + it.finished; ++t)
        expected.push_back(
            tables[b].attention_after({it.ids.begin(), it.ids.begin() + static_cast<int64_t>(t)}));
      EXPECT_EQ(it.attention, expected);
    }
}

TEST(BeamSearch, RefusesWhatCannotBe) {
  const ToyTable table = ToyTable::random(1);
  EXPECT_THROW(search({table}, {.beam = 0}), InputError);
  EXPECT_THROW(search({table}, {.beam = 2, .n_best = 3}), InputError);
  EXPECT_THROW(search({table}, {.length_penalty = -1}), InputError);
  EXPECT_THROW(search({table}, {.max_length = 0}), InputError);
  ToyTable broken = table;
  broken.at(0, 0, 3) = std::numeric_limits<real>::quiet_NaN();
  EXPECT_THROW(search({table, broken}, {}), Error);
}

/// A large vocabulary, so that several threads choose the candidates.
class LargePredictor : public Predictor {
 public:
  Prediction next(const std::vector<int32_t>& ids) override {
    const Tensor log_p({std::ssize(ids), 30'000});
    for (int64_t i = 0; i < log_p.size(); ++i) {
      const uint64_t mixed = static_cast<uint64_t>(i + 7 * ids[0] + 1) * 0x9E3779B97F4A7C15u;
      log_p.mutable_data()[i] = -10 - static_cast<real>(mixed >> 44) / (1 << 20);
    }
    return {log_p};
  }
  void select(const std::vector<int64_t>&, const std::vector<int64_t>& sentences) override {
    sentences_ = std::ssize(sentences);
  }
  int64_t sentences() const override { return sentences_; }

 private:
  int64_t sentences_ = 5;
};

TEST(BeamSearch, DoesNotDependOnThreads) {
  const auto found = [](int count) {
    const int before = threads();
    set_threads(count);
    LargePredictor predictor;
    const auto result = beam_search(predictor, only_end, {.beam = 2, .n_best = 2, .max_length = 4});
    set_threads(before);
    return result;
  };
  const auto one = found(1), three = found(3);
  for (size_t b = 0; b < one.size(); ++b) expect_same(three[b], one[b], fmt::format("sentence {}", b));
}

}  // namespace
}  // namespace rondo
