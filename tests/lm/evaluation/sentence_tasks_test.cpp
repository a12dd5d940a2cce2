// Logistic regression, correlations and the map of word vectors against scikit-learn and SciPy
// (tests/golden/make_logistic_regression_golden.py), and what cross-validation must not see.
#include "lm/evaluation/sentence_tasks.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lm/evaluation/skip_thought_evaluation.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

using Doubles = std::vector<double>;

const nlohmann::json& sklearn() {
  static const nlohmann::json golden = nlohmann::json::parse(
      std::ifstream(std::string(RONDO_SOURCE_DIR) + "/tests/golden/logistic_regression.json"));
  return golden;
}

std::vector<std::int64_t> up_to(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

Vectors golden_features() { return {sklearn().at("width"), sklearn().at("X")}; }

TEST(LogisticRegression, IsThatOfScikitLearn) {
  const Vectors X = golden_features();
  for (const auto& golden : sklearn().at("cases")) {
    const std::int64_t classes = golden.at("classes");
    const Doubles targets = one_hot_targets(golden.at("labels"), classes);
    const TargetRows data{X, targets, classes, up_to(X.size())};
    const LogisticModel model = fit_logistic(data, golden.at("C"), 1e-9);
    const Doubles weights = golden.at("weights"), probabilities = golden.at("probabilities");
    ASSERT_EQ(model.weights.size(), weights.size());
    // Of several classes only differences of biases are determined: scikit-learn's have the mean 0, too.
    for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(model.weights[i], weights[i], 5e-4);
    for (std::int64_t row = 0; row < 4; ++row)
      for (std::int64_t k = 0; k < classes; ++k)
        EXPECT_NEAR(model.probabilities(X[row])[static_cast<std::size_t>(k)],
                    probabilities[static_cast<std::size_t>(row * classes + k)], 5e-4);
    // From another beginning to the same end, with the tolerance of evaluations to three digits.
    const LogisticModel again = fit_logistic(data, golden.at("C"), 1e-9, model);
    for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(again.weights[i], weights[i], 5e-4);
  }
}

TEST(LogisticRegression, RowsThatAreLeftOutHaveNoInfluence) {
  Vectors X = golden_features();
  Doubles targets = one_hot_targets(sklearn().at("cases")[0].at("labels"), 2);
  const auto fitted = [&] { return fit_logistic({X, targets, 2, up_to(60)}, 1).weights; };
  const Doubles before = fitted();
  for (std::int64_t row = 60; row < X.size(); ++row)
    for (float& x : X[row]) x = NAN;
  EXPECT_EQ(fitted(), before);
}

TEST(LogisticRegression, FoldsDivideTheRowsEvenly) {
  const std::vector<std::int64_t> fold = random_folds(53, 10, 3);
  std::vector<int> sizes(10, 0);
  for (const std::int64_t it : fold) ++sizes.at(static_cast<std::size_t>(it));
  EXPECT_EQ(*std::ranges::min_element(sizes), 5);
  EXPECT_EQ(*std::ranges::max_element(sizes), 6);
  EXPECT_EQ(fold, random_folds(53, 10, 3));
  EXPECT_NE(fold, random_folds(53, 10, 4));
}

// With more features than rows any labels can be learnt by heart: only rows that are really held out show
// that nothing was understood.
TEST(LogisticRegression, NestedPredictionsAreOfRowsThatWereNotSeen) {
  std::uint64_t random = 1;
  const auto next = [&] { return (random = random * 6364136223846793005u + 1442695040888963407u) >> 33; };
  Vectors X{.width = 60};
  std::vector<std::int32_t> labels, told;
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < 60; ++j) X.numbers.push_back(static_cast<float>(next() % 1000) / 1000 - 0.5F);
    labels.push_back(i % 2);
    told.push_back(X[i][0] > 0 ? 1 : 0);  // what the first feature says,
    X[i][0] *= 10;                        // loudly
  }
  const auto right = [&](const std::vector<std::int32_t>& of) {
    return class_scores(nested_predictions(X, of, 2, 5, 1), of).accuracy();
  };
  EXPECT_NEAR(right(labels), 50, 25);
  EXPECT_GT(right(told), 75);
}

TEST(SentenceTasks, CorrelationsAndF1AreThoseOfScipyAndScikitLearn) {
  EXPECT_NEAR(pearson(sklearn().at("a"), sklearn().at("b")), sklearn().at("pearson"), 1e-9);
  EXPECT_NEAR(spearman(sklearn().at("a"), sklearn().at("b")), sklearn().at("spearman"), 1e-9);
  EXPECT_EQ(pearson({1, 1, 1}, {1, 2, 3}), 0);
  const ClassScores scores = class_scores(sklearn().at("guess"), sklearn().at("truth"));
  EXPECT_NEAR(scores.f1, sklearn().at("f1"), 1e-9);
}

// Tai et al. 2015 (15).
TEST(SentenceTasks, AScoreIsADistributionOverTwoNeighbours) {
  EXPECT_EQ(score_distributions({3.25, 1, 5}), (Doubles{0, 0, 0.75, 0.25, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(SentenceTasks, RelatednessIsFoundInVectorsThatHaveIt) {
  std::uint64_t random = 1;
  const auto next = [&] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>((random >> 33) % 1000) / 1000 - 0.5F;
  };
  const auto pairs = [&](int count) {
    Vectors u{.width = 6}, v{.width = 6};
    Doubles scores;
    for (int i = 0; i < count; ++i) {
      double distance = 0;
      for (int j = 0; j < 6; ++j) {
        u.numbers.push_back(next());
        v.numbers.push_back(next());
        distance += static_cast<double>(std::abs(u.numbers.back() - v.numbers.back())) / 6;
      }
      scores.push_back(5 - 4 * distance);
    }
    return ScoredPairs{pair_features(u, v), scores};
  };
  const ScoredPairs train = pairs(150), trial = pairs(40), test = pairs(60);
  const RelatednessScores scores = measure_relatedness(train, trial, test);
  EXPECT_GT(scores.pearson, 0.95);
  EXPECT_GT(scores.spearman, 0.9);
  EXPECT_LT(scores.mse, 0.1);
}

TEST(VocabularyExpansion, MapIsThatOfScikitLearn) {
  const Vectors X = golden_features();
  const Doubles Y = sklearn().at("Y"), expected = sklearn().at("map");
  Doubles XtX(25, 0.0), XtY(10, 0.0);
  for (std::int64_t n = 0; n < X.size(); ++n)
    for (std::size_t i = 0; i < 5; ++i) {
      const auto x = static_cast<double>(X[n][i]);
      for (std::size_t j = 0; j < 5; ++j) XtX[i * 5 + j] += x * static_cast<double>(X[n][j]);
      for (std::size_t e = 0; e < 2; ++e) XtY[i * 2 + e] += x * Y[static_cast<std::size_t>(n) * 2 + e];
    }
  const Doubles W = least_squares(XtX, XtY, 5, "vectors");
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(W[i], expected[i], 1e-4);
  for (std::size_t i = 0; i < 5; ++i) XtX[i * 5 + 4] = XtX[i * 5 + 3], XtX[20 + i] = XtX[15 + i];
  expect_contains(error_of([&] { least_squares(XtX, XtY, 5, "vectors"); }), "vectors: ");
}

}  // namespace
}  // namespace rondo
