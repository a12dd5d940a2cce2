// How useful sentence vectors are for other tasks, measured as in Kiros et al. 2015, section 3: a linear
// model reads the vectors, which are not changed.
//
//   relatedness     of a pair |u - v| and u v; softmax over scores 1 to 5. Tai, Socher & Manning 2015 (15):
//                   a score y is the distribution t_i = y - floor(y) for i = floor(y) + 1, floor(y) - y + 1
//                   for i = floor(y), else 0, and predicted is sum_i i p(i). (Their loss, the divergence of t
//                   and p, is the cross-entropy but for a constant.) The penalty is the best one on the trial
//                   pairs.
//   paraphrase      the same features; the penalty by cross-validation
//   classification  the vector; the penalty by cross-validation, within each fold if there is no test text
#pragma once

#include <cstdint>
#include <vector>

#include "lm/evaluation/skip_thought_evaluation.h"

namespace rondo {

// --- Logistic regression ---
// Logistic regression with an L2 penalty, and the choice of the penalty by cross-validation: what is learnt
// on top of fixed sentence vectors. For classes k = 1 .. K and rows x_n with targets t_n (probabilities; of a
// labelled row 1 for its class):
//
//   p(k | x) = softmax_k(w_k x + b_k);  of two classes p(2 | x) = s(w x + b)
//   minimised: C sum_n sum_k -t_nk log p(k | x_n) + 1/2 sum |w|^2
//
// b is not penalised. C means the same as in scikit-learn. Minimised by L-BFGS (Liu & Nocedal 1989) in double
// precision.

/// Rows with targets [N, K], or some of them.
struct TargetRows {
  const Vectors& features;
  const std::vector<double>& targets;
  std::int64_t classes;
  std::vector<std::int64_t> rows;
};

struct LogisticModel {
  std::int64_t classes = 0;
  std::vector<double> weights{};  // w_k and b_k, for each class; of two classes for the second alone

  /// Computes p(k | x) of each class, for a row.
  std::vector<double> probabilities(std::span<const float> row) const;
  std::int64_t most_probable(std::span<const float> row) const;
};

/// Where vectors are nearly the same, derivatives are small far from the minimum.
constexpr double logistic_tolerance = 1e-5;

/// Ends when no partial derivative of the minimised sum, divided by C N, is above `tolerance`. It begins with
/// `start`, such as the model of a neighbouring C, or without one with zeros; that changes the time that is
/// needed, not the result.
LogisticModel fit_logistic(const TargetRows& data, double C, double tolerance = logistic_tolerance,
                           const LogisticModel& start = {});

/// Targets of labelled rows: 1 for the class.
std::vector<double> one_hot_targets(const std::vector<std::int32_t>& labels, std::int64_t classes);

/// The penalties that are tried.
inline const std::vector<double> tried_C = {1, 8, 64, 512, 4096};

/// Folds of `count` rows, in random order, of sizes that differ by one at most: which fold each row is in.
std::vector<std::int64_t> random_folds(std::int64_t count, std::int64_t folds, std::uint64_t seed);

/// The C of tried_C with which most labelled rows are right, each predicted from the other folds. Of equals
/// the smallest.
double best_C(const TargetRows& data, const std::vector<std::int32_t>& labels, std::int64_t folds,
              std::uint64_t seed);

/// The class of each row, predicted by a model of the other folds whose C was chosen by a cross-validation
/// within these (nested cross-validation). `progress` gets the number of rows done.
std::vector<std::int32_t> nested_predictions(const Vectors& features, const std::vector<std::int32_t>& labels,
                                             std::int64_t classes, std::int64_t folds, std::uint64_t seed,
                                             const ReportDone& progress = {});

// --- Sentence tasks ---

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
/// Measures without a test text, by nested cross-validation. `progress` gets the number of rows done.
ClassScores measure_classification(const LabelledVectors& all, std::int64_t classes,
                                   const ReportDone& progress = {});

}  // namespace rondo
