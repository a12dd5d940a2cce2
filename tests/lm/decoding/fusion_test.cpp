// Fused models, and n-gram models as Predictors: lm/decoding/predictor.h.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "lm/decoding/beam_search.h"
#include "lm/decoding/predictor.h"
#include "tensor/error.h"
#include "tests/lm/decoding/toy_predictor.h"

namespace rondo {
namespace {

constexpr double zero = -std::numeric_limits<double>::infinity();

TEST(Fusion, OfTablesIsTheTableOfTheirWeightedSum) {
  for (uint32_t seed = 0; seed < 5; ++seed) {
    const std::vector<ToyTable> tables{ToyTable::random(seed, 5, 3), ToyTable::random(seed + 50, 5, 2)};
    const std::vector<ToyTable> second{ToyTable::random(seed + 100), ToyTable::random(seed + 150)};
    const std::vector<ToyTable> third{ToyTable::random(seed + 200), ToyTable::random(seed + 250)};
    std::vector<ToyTable> sums = tables;
    for (size_t b = 0; b < sums.size(); ++b)
      for (size_t i = 0; i < sums[b].log_p.size(); ++i)
        sums[b].log_p[i] += static_cast<real>(0.5) * second[b].log_p[i] + 2 * third[b].log_p[i];

    const BeamOptions options{
        .beam = 4, .n_best = 3, .coverage_penalty = 0.1, .max_length = 12, .attention = true};
    ToyPredictor model(tables), other(second), another(third), sum(sums);
    FusedPredictor fused(model, {{other, 0.5}, {another, 2}});
    const auto found = beam_search(fused, only_end, options), expected = beam_search(sum, only_end, options);
    for (size_t b = 0; b < tables.size(); ++b) {
      ASSERT_EQ(found[b].size(), expected[b].size());
      for (size_t i = 0; i < expected[b].size(); ++i) {
        EXPECT_EQ(found[b][i].ids, expected[b][i].ids);
        EXPECT_NEAR(found[b][i].log_p, expected[b][i].log_p, 1e-4);
        EXPECT_EQ(found[b][i].attention, expected[b][i].attention);
      }
    }
    EXPECT_EQ(other.calls, model.calls);
  }
}

TEST(Fusion, LeavesTheModelsTensorsAsTheyAre) {
  /// Returns the same tensor again and again.
  class Constant : public Predictor {
   public:
    Prediction next(const std::vector<int32_t>&) override { return {log_p}; }
    void select(const std::vector<int64_t>&, const std::vector<int64_t>&) override {}
    int64_t sentences() const override { return 1; }
    int64_t vocabulary_size() const override { return 2; }
    Tensor log_p = Tensor::from({-1, -2}, {1, 2});
  };
  Constant model, other;
  FusedPredictor fused(model, {{other, 1}});
  for (int step = 0; step < 3; ++step)
    EXPECT_EQ(fused.next({0}).log_p.to_vector(), (std::vector<real>{-2, -4}));
}

TEST(Fusion, OfWeightZeroIsTheModel) {
  const ToyTable table = ToyTable::random(3);
  ToyTable impossible = table;
  for (real& it : impossible.log_p) it = static_cast<real>(zero);
  ToyPredictor model({table}), alone({table}), other({impossible});
  FusedPredictor fused(model, {{other, 0}});
  EXPECT_EQ(beam_search(fused, only_end, {})[0][0].ids, beam_search(alone, only_end, {})[0][0].ids);
}

TEST(Fusion, RefusesModelsThatDoNotFit) {
  ToyPredictor model({ToyTable::random(1)}), larger({ToyTable::random(2, 6)}),
      two({ToyTable::random(3), ToyTable::random(4)}), other({ToyTable::random(5)});
  EXPECT_THROW(FusedPredictor(model, {{larger, 1}}), Error);
  EXPECT_THROW(FusedPredictor(model, {{two, 1}}), Error);
  EXPECT_THROW(FusedPredictor(model, {{other, -0.1}}), Error);
}

/// Of the line end 0 and the symbols 1 and 2; `<s>` is 3.
NgramModel trigrams() {
  NgramModel model(3);
  model.add_order({{0, 0, -1.5, 0}, {0, 1, -0.9, -0.2}, {0, 2, -1.1, -0.3}, {0, 3, zero, -0.4}});
  const auto a = *model.find(model.empty_context(), 1), b = *model.find(model.empty_context(), 2),
             start = *model.find(model.empty_context(), 3);
  model.add_order({{a, 1, -2.5, -0.1}, {a, 2, -0.3, -0.25}, {b, 0, -0.2}, {start, 1, -0.35, -0.6}});
  model.add_order({{*model.find(a, 2), 1, -0.15}, {*model.find(start, 1), 0, -3}});
  return model;
}

/// ln p of a line's next symbol, from the line's beginning.
double after(const NgramModel& model, const std::vector<int32_t>& line, int32_t symbol) {
  std::vector<int32_t> ids = line;
  ids.push_back(symbol);
  return log_probabilities(model, ids, std::nullopt).back();
}

TEST(NgramPredictor, IsTheModelAfterTheSymbolsOfEachRow) {
  const NgramModel model = trigrams();
  NgramPredictor predictor(model, 0, 2);
  EXPECT_EQ(predictor.vocabulary_size(), 3);
  std::vector<std::vector<int32_t>> lines{{}, {}};
  const auto expect_next = [&](const std::vector<int32_t>& ids) {
    const Tensor log_p = predictor.next(ids).log_p;
    ASSERT_EQ(log_p.rows(), std::ssize(lines));
    for (size_t i = 0; i < lines.size(); ++i) {
      if (ids[i] != 0) lines[i].push_back(ids[i]);
      for (int32_t v = 0; v < 3; ++v)
        EXPECT_NEAR(log_p[static_cast<int64_t>(i)].to_vector()[static_cast<size_t>(v)],
                    after(model, lines[i], v), 1e-6)
            << i << ", " << v;
    }
  };
  expect_next({0, 0});
  expect_next({1, 2});
  predictor.select({1, 1, 1}, {1});
  EXPECT_EQ(predictor.sentences(), 1);
  lines = {lines[1], lines[1], lines[1]};
  expect_next({2, 1, 2});
  predictor.select({2, 1}, {0});
  lines = {lines[2], lines[1]};
  expect_next({1, 2});
  expect_next({1, 1});
}

TEST(NgramPredictor, FusedAddsItsLogProbabilities) {
  const NgramModel model = trigrams();
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const ToyTable table = ToyTable::random(seed, 3);
    // The best of all sentences of at most 5 symbols.
    Hypothesis expected{.ids = {}, .log_p = zero};
    const std::function<void(const std::vector<int32_t>&, double)> visit = [&](const auto& ids,
                                                                               double log_p) {
      for (int32_t symbol = 0; symbol < 3; ++symbol) {
        const double sum = log_p + table.after(ids, symbol) + 0.7 * after(model, ids, symbol);
        if (symbol == 0 && sum > expected.log_p) expected = {.ids = ids, .log_p = sum};
        std::vector<int32_t> longer = ids;
        longer.push_back(symbol);
        if (symbol != 0 && ids.size() < 4) visit(longer, sum);
      }
    };
    visit({}, 0);

    ToyPredictor translator({table});
    NgramPredictor language(model, 0, 1);
    FusedPredictor fused(translator, {{language, 0.7}});
    const auto found =
        beam_search(fused, only_end, {.beam = 300, .length_penalty = 0, .max_length = 5})[0][0];
    EXPECT_EQ(found.ids, expected.ids);
    EXPECT_NEAR(found.log_p, expected.log_p, 1e-5);
  }
}

TEST(NgramPredictor, RefusesSymbolsItDoesNotHave) {
  const NgramModel model = trigrams();
  EXPECT_THROW(NgramPredictor(model, 3, 1), Error);
  NgramPredictor predictor(model, 0, 1);
  EXPECT_THROW(predictor.next({3}), Error);
  EXPECT_THROW(predictor.next({0, 0}), Error);
}

}  // namespace
}  // namespace rondo
