// What vectors of sentences are good for.
#include "lm/evaluation/sentence_tasks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensor/error.h"

namespace rondo {
namespace {

constexpr std::int64_t highest_score = 5;
constexpr std::uint64_t folds_seed = 1;

/// From 1; equal numbers share their mean rank.
std::vector<double> ranks_of(const std::vector<double>& numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> ranks(numbers.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end + 1) / 2;
    begin = end;
  }
  return ranks;
}

std::vector<double> predicted_scores(const LogisticModel& model, const Vectors& features) {
  std::vector<double> scores;
  for (std::int64_t i = 0; i < features.size(); ++i) {
    const std::vector<double> p = model.probabilities(features[i]);
    double score = 0;
    for (std::size_t k = 0; k < p.size(); ++k) score += static_cast<double>(k + 1) * p[k];
    scores.push_back(score);
  }
  return scores;
}

TargetRows all_rows(const Vectors& features, const std::vector<double>& targets, std::int64_t classes) {
  TargetRows all{features, targets, classes,
                 std::vector<std::int64_t>(static_cast<std::size_t>(features.size()))};
  std::iota(all.rows.begin(), all.rows.end(), 0);
  return all;
}

}  // namespace

double pearson(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n,
               mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double aa = 0, ab = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i] - mean_a, y = b[i] - mean_b;
    aa += x * x, ab += x * y, bb += y * y;
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  return pearson(ranks_of(a), ranks_of(b));
}

std::vector<double> score_distributions(const std::vector<double>& scores) {
  std::vector<double> targets(scores.size() * highest_score, 0.0);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double y = scores[i], below = std::floor(y);
    check(y >= 1 && y <= highest_score, "[relatedness] a score of {}, not from 1 to {}", y, highest_score);
    double* const of = &targets[i * highest_score];
    of[static_cast<std::size_t>(below) - 1] = below - y + 1;
    if (y > below) of[static_cast<std::size_t>(below)] = y - below;
  }
  return targets;
}

RelatednessScores measure_relatedness(const ScoredPairs& train, const ScoredPairs& trial,
                                      const ScoredPairs& test) {
  const std::vector<double> targets = score_distributions(train.scores);
  const TargetRows rows = all_rows(train.features, targets, highest_score);
  LogisticModel model, best;
  double most = -2;
  for (const double C : tried_C) {
    const LogisticModel start = std::move(model);
    model = fit_logistic(rows, C, logistic_tolerance, start.classes > 0 ? &start : nullptr);
    const double r = pearson(predicted_scores(model, trial.features), trial.scores);
    if (r > most) most = r, best = model;
  }
  const std::vector<double> predicted = predicted_scores(best, test.features);
  RelatednessScores scores{pearson(predicted, test.scores), spearman(predicted, test.scores)};
  for (std::size_t i = 0; i < predicted.size(); ++i)
    scores.mse += (predicted[i] - test.scores[i]) * (predicted[i] - test.scores[i]) /
                  static_cast<double>(predicted.size());
  return scores;
}

ClassScores class_scores(const std::vector<std::int32_t>& predicted,
                         const std::vector<std::int32_t>& labels) {
  ClassScores scores{.count = std::ssize(labels)};
  std::int64_t both = 0, either = 0;  // of class 1: in both, and the sum of the two
  for (std::size_t i = 0; i < labels.size(); ++i) {
    scores.correct += predicted[i] == labels[i];
    both += predicted[i] == 1 && labels[i] == 1;
    either += (predicted[i] == 1) + (labels[i] == 1);
  }
  scores.f1 = either == 0 ? 0 : 200 * static_cast<double>(both) / static_cast<double>(either);
  return scores;
}

ClassScores measure_classification(const LabelledVectors& train, const LabelledVectors& test,
                                   std::int64_t classes) {
  const std::vector<double> targets = one_hot_targets(train.labels, classes);
  const TargetRows rows = all_rows(train.features, targets, classes);
  const LogisticModel model =
      fit_logistic(rows, best_C(rows, train.labels, cross_validation_folds, folds_seed));
  std::vector<std::int32_t> predicted;
  for (std::int64_t i = 0; i < test.features.size(); ++i)
    predicted.push_back(static_cast<std::int32_t>(model.most_probable(test.features[i])));
  return class_scores(predicted, test.labels);
}

ClassScores measure_classification(const LabelledVectors& all, std::int64_t classes,
                                   const std::function<void(std::int64_t)>& progress) {
  return class_scores(
      nested_predictions(all.features, all.labels, classes, cross_validation_folds, folds_seed, progress),
      all.labels);
}

}  // namespace rondo
