// What vectors of sentences are good for.
#include "lm/evaluation/sentence_tasks.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <numeric>

#include "data/text/streams.h"
#include "tensor/threads.h"

namespace rondo {

// --- Logistic regression ---

namespace {

using Numbers = std::vector<double>;

double dot(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
void add(double factor, const Numbers& x, Numbers& to) {
  for (std::size_t i = 0; i < x.size(); ++i) to[i] += factor * x[i];
}

/// w x + b, in eight sums, which the compiler computes side by side.
double score(const float* x, const double* w, std::int64_t width) {
  constexpr std::int64_t lanes = 8;
  double sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes)
    for (std::int64_t j = 0; j < lanes; ++j) sums[j] += static_cast<double>(x[i + j]) * w[i + j];
  double sum = w[width];
  for (; i < width; ++i) sum += static_cast<double>(x[i]) * w[i];
  return std::accumulate(sums, sums + lanes, sum);
}

std::size_t outputs_of(std::int64_t classes) { return classes == 2 ? 1 : static_cast<std::size_t>(classes); }

/// The log probabilities of the classes for a row; of two classes one has the score 0.
void find_log_probabilities(std::span<const float> x, const Numbers& weights, std::int64_t classes,
                            Numbers& scores) {
  const std::size_t outputs = outputs_of(classes), stride = x.size() + 1;
  scores.resize(outputs);
  for (std::size_t k = 0; k < outputs; ++k) scores[k] = score(x.data(), &weights[k * stride], std::ssize(x));
  if (outputs == 1) scores = {0, scores[0]};
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (const double it : scores) sum += std::exp(it - most);
  for (double& it : scores) it -= most + std::log(sum);
}

/// The minimised sum divided by C N, and its gradient.
class LogisticLoss {
 public:
  LogisticLoss(const TargetRows& data, double C)
      : data_(data),
        outputs_(outputs_of(data.classes)),
        penalty_(1 / (C * static_cast<double>(data.rows.size()))) {}

  std::size_t size() const { return outputs_ * stride(); }

  double operator()(const Numbers& w, Numbers& gradient) const {
    gradient.assign(w.size(), 0);
    const auto K = static_cast<std::size_t>(data_.classes);
    const double share = 1 / static_cast<double>(data_.rows.size());
    double loss = 0;
    Numbers log_p;
    for (const std::int64_t row : data_.rows) {
      const std::span<const float> x = data_.features[row];
      const double* const target = &data_.targets[static_cast<std::size_t>(row) * K];
      find_log_probabilities(x, w, data_.classes, log_p);
      for (std::size_t k = 0; k < K; ++k) loss -= target[k] * log_p[k];
      for (std::size_t k = 0; k < outputs_; ++k) {
        const std::size_t of_class = outputs_ == 1 ? 1 : k;
        const double d = share * (std::exp(log_p[of_class]) - target[of_class]);
        double* const to = &gradient[k * stride()];
        for (std::size_t i = 0; i < x.size(); ++i) to[i] += d * static_cast<double>(x[i]);
        to[x.size()] += d;
      }
    }
    double squares = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      if ((i + 1) % stride() == 0) continue;  // b
      squares += w[i] * w[i];
      gradient[i] += penalty_ * w[i];
    }
    return share * loss + penalty_ * squares / 2;
  }

 private:
  std::size_t stride() const { return static_cast<std::size_t>(data_.features.width) + 1; }

  const TargetRows& data_;
  std::size_t outputs_;
  double penalty_;
};

/// The last steps and the changes of the gradient along them, from which L-BFGS finds its direction.
class History {
 public:
  /// -H g, by the two loops of Nocedal 1980.
  Numbers direction(Numbers g) const {
    Numbers alpha;
    for (auto it = steps_.rbegin(); it != steps_.rend(); ++it) {
      alpha.push_back(dot(it->s, g) / it->sy);
      add(-alpha.back(), it->y, g);
    }
    const double scale = steps_.empty() ? 1 / std::max(1.0, std::sqrt(dot(g, g)))
                                        : steps_.back().sy / dot(steps_.back().y, steps_.back().y);
    for (double& x : g) x *= scale;
    for (const Step& it : steps_) {
      add(alpha.back() - dot(it.y, g) / it.sy, it.s, g);
      alpha.pop_back();
    }
    for (double& x : g) x = -x;
    return g;
  }
  /// Steps along which the gradient does not grow would make H indefinite: they are left out.
  void remember(Numbers s, Numbers y) {
    const double sy = dot(s, y);
    if (sy <= 1e-12 * dot(y, y)) return;
    steps_.push_back({std::move(s), std::move(y), sy});
    constexpr std::size_t most = 10;
    if (steps_.size() > most) steps_.pop_front();
  }

 private:
  struct Step {
    Numbers s, y;
    double sy;
  };
  std::deque<Step> steps_;
};

double largest(const Numbers& g) {
  return std::accumulate(g.begin(), g.end(), 0.0,
                         [](double most, double x) { return std::max(most, std::abs(x)); });
}

/// From w to where no partial derivative is above `tolerance`.
void minimise(const LogisticLoss& objective, Numbers& w, double tolerance) {
  constexpr int most_steps = 2000, most_halvings = 40;
  Numbers g, next_g;
  double value = objective(w, g);
  History history;
  for (int step = 0; step < most_steps && largest(g) > tolerance; ++step) {
    const Numbers direction = history.direction(g);
    const double slope = dot(direction, g);
    double rate = 1;
    for (int halving = 0;; ++halving, rate /= 2) {  // until the value falls enough (Armijo)
      if (halving == most_halvings) return;         // as low as rounding lets it be
      Numbers next = w;
      add(rate, direction, next);
      const double next_value = objective(next, next_g);
      if (!(next_value <= value + 1e-4 * rate * slope)) continue;
      Numbers s = direction, y = next_g;
      for (double& x : s) x *= rate;
      add(-1, g, y);
      history.remember(std::move(s), std::move(y));
      w = std::move(next), g = next_g, value = next_value;
      break;
    }
  }
}

}  // namespace

std::vector<double> LogisticModel::probabilities(std::span<const float> row) const {
  Numbers p;
  find_log_probabilities(row, weights, classes, p);
  for (double& it : p) it = std::exp(it);
  return p;
}

std::int64_t LogisticModel::most_probable(std::span<const float> row) const {
  const std::vector<double> p = probabilities(row);
  return std::ranges::max_element(p) - p.begin();
}

LogisticModel fit_logistic(const TargetRows& data, double C, double tolerance, const LogisticModel& start) {
  check(data.classes >= 2 && !data.rows.empty(), "[logistic regression] {} classes, {} rows", data.classes,
        data.rows.size());
  const LogisticLoss objective(data, C);
  LogisticModel model{data.classes, start.weights};
  model.weights.resize(objective.size(), 0.0);
  minimise(objective, model.weights, tolerance);
  return model;
}

std::vector<double> one_hot_targets(const std::vector<std::int32_t>& labels, std::int64_t classes) {
  std::vector<double> targets(labels.size() * static_cast<std::size_t>(classes), 0.0);
  for (std::size_t i = 0; i < labels.size(); ++i)
    targets[i * static_cast<std::size_t>(classes) + static_cast<std::size_t>(labels[i])] = 1;
  return targets;
}

std::vector<std::int64_t> random_folds(std::int64_t count, std::int64_t folds, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count)), fold(order.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random = epoch_generator(seed, 0);
  shuffle(order, random);
  for (std::size_t i = 0; i < order.size(); ++i)
    fold[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i) % folds;
  return fold;
}

namespace {

TargetRows all_rows(const Vectors& features, const std::vector<double>& targets, std::int64_t classes) {
  TargetRows all{features, targets, classes,
                 std::vector<std::int64_t>(static_cast<std::size_t>(features.size()))};
  std::iota(all.rows.begin(), all.rows.end(), 0);
  return all;
}

/// The rows inside and outside of a fold.
std::pair<TargetRows, std::vector<std::int64_t>> divided(const TargetRows& data,
                                                         const std::vector<std::int64_t>& fold,
                                                         std::int64_t held_out) {
  TargetRows others{data.features, data.targets, data.classes, {}};
  std::vector<std::int64_t> held;
  for (std::size_t i = 0; i < data.rows.size(); ++i)
    (fold[i] == held_out ? held : others.rows).push_back(data.rows[i]);
  return {std::move(others), std::move(held)};
}

}  // namespace

double best_C(const TargetRows& data, const std::vector<std::int32_t>& labels, std::int64_t folds,
              std::uint64_t seed) {
  const std::vector<std::int64_t> fold = random_folds(std::ssize(data.rows), folds, seed);
  std::vector<std::vector<std::int64_t>> right(static_cast<std::size_t>(folds),
                                               std::vector<std::int64_t>(tried_C.size(), 0));
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(folds));
  parallel_for(folds, true, [&](std::int64_t f) {
    try {
      const auto parts = divided(data, fold, f);
      LogisticModel model;
      for (std::size_t c = 0; c < tried_C.size(); ++c) {
        model = fit_logistic(parts.first, tried_C[c], logistic_tolerance, model);
        for (const std::int64_t row : parts.second)
          right[static_cast<std::size_t>(f)][c] +=
              model.most_probable(data.features[row]) == labels[static_cast<std::size_t>(row)];
      }
    } catch (...) {  // such as that there is no more memory: no exception may leave the loop's body
      failures[static_cast<std::size_t>(f)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  std::size_t best = 0;
  std::int64_t most = -1;
  for (std::size_t c = 0; c < tried_C.size(); ++c) {
    std::int64_t count = 0;
    for (const std::vector<std::int64_t>& of_fold : right) count += of_fold[c];
    if (count > most) best = c, most = count;
  }
  return tried_C[best];
}

std::vector<std::int32_t> nested_predictions(const Vectors& features, const std::vector<std::int32_t>& labels,
                                             std::int64_t classes, std::int64_t folds, std::uint64_t seed,
                                             const ReportDone& progress) {
  const std::vector<double> targets = one_hot_targets(labels, classes);
  const TargetRows all = all_rows(features, targets, classes);
  const std::vector<std::int64_t> fold = random_folds(features.size(), folds, seed);
  std::vector<std::int32_t> predicted(labels.size());
  std::int64_t done = 0;
  for (std::int64_t f = 0; f < folds; ++f) {
    const auto [others, held] = divided(all, fold, f);
    const double C = best_C(others, labels, folds, seed + 1 + static_cast<std::uint64_t>(f));
    const LogisticModel model = fit_logistic(others, C);
    for (const std::int64_t row : held)
      predicted[static_cast<std::size_t>(row)] =
          static_cast<std::int32_t>(model.most_probable(features[row]));
    if (progress) progress(done += std::ssize(held));
  }
  return predicted;
}

// --- Sentence tasks ---

namespace {

constexpr std::int64_t highest_score = 5;
constexpr std::uint64_t folds_seed = 1;

/// From 1; equal numbers share their mean rank.
std::vector<double> ranks_of(const std::vector<double>& numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
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
    model = fit_logistic(rows, C, logistic_tolerance, model);
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
                                   const ReportDone& progress) {
  return class_scores(
      nested_predictions(all.features, all.labels, classes, cross_validation_folds, folds_seed, progress),
      all.labels);
}

}  // namespace rondo
