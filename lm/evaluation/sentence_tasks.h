// How useful sentence vectors are for other tasks, measured as in Kiros et al. 2015, section 3: a linear
// model reads the vectors, which are not changed. Next: lm/evaluation/logistic_regression.h.
//
//   relatedness     of a pair |u - v| and u v; softmax over the scores 1 to 5. Tai, Socher & Manning 2015
//   (15):
//                   a score y is the distribution t_i = y - floor(y) for i = floor(y) + 1, floor(y) - y + 1
//                   for i = floor(y), else 0, and predicted is sum_i i p(i). (Their loss, the divergence of t
//                   and p, is the cross-entropy but for a constant.) The penalty is the best one on the trial
//                   pairs.
//   paraphrase      the same features; the penalty by cross-validation
//   classification  the vector; the penalty by cross-validation, within each fold if there is no test text
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lm/evaluation/logistic_regression.h"

namespace rondo {

/// Folds of all cross-validations.
constexpr std::int64_t cross_validation_folds = 10;

/// Pearson's r and, by the ranks of the numbers, Spearman's rho; equal numbers share their mean rank. 0 if
/// all numbers of a side are equal.
double pearson(const std::vector<double>& a, const std::vector<double>& b);
double spearman(const std::vector<double>& a, const std::vector<double>& b);

struct RelatednessScores {
  double pearson = 0, spearman = 0, mse = 0;
};
/// The features of pairs and their scores, 1 to 5.
struct ScoredPairs {
  Vectors features;
  std::vector<double> scores;
};
RelatednessScores measure_relatedness(const ScoredPairs& train, const ScoredPairs& trial,
                                      const ScoredPairs& test);
/// The distribution over 1 .. 5 of each score, [N, 5].
std::vector<double> score_distributions(const std::vector<double>& scores);

struct ClassScores {
  std::int64_t count = 0, correct = 0;
  double f1 = 0;  // in percent, of class 1

  double accuracy() const { return 100 * static_cast<double>(correct) / static_cast<double>(count); }
};
ClassScores class_scores(const std::vector<std::int32_t>& predicted, const std::vector<std::int32_t>& labels);

struct LabelledVectors {
  Vectors features;
  std::vector<std::int32_t> labels;
};
ClassScores measure_classification(const LabelledVectors& train, const LabelledVectors& test,
                                   std::int64_t classes);
/// Without a test text: by nested cross-validation. `progress` gets the number of rows done.
ClassScores measure_classification(const LabelledVectors& all, std::int64_t classes,
                                   const std::function<void(std::int64_t)>& progress = {});

}  // namespace rondo
