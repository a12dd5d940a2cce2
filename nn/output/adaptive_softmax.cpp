// The adaptive softmax.
#include "nn/output/adaptive_softmax.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/sequence.h"

namespace rondo {
namespace {

constexpr size_t automatic_clusters = 2;  // of automatic_cutoffs()

/// The cutoffs in force.
std::vector<int64_t> cutoffs_for(const AdaptiveSoftmaxOptions& options, int64_t width, int64_t V) {
  check_options(options, width);
  if (options.cutoffs.empty()) return automatic_cutoffs(V);
  check_input(options.cutoffs.back() + 2 <= V,
              "model.cutoffs = [{}]: the last cluster begins at symbol {} and needs two, and the vocabulary "
              "has {}: leave that one out, or model.cutoffs, which are then chosen",
              fmt::join(options.cutoffs, ", "), options.cutoffs.back(), V);
  return options.cutoffs;
}

Initializer initial_values(const std::optional<Initializer>& given, int64_t width) {
  return given.value_or(uniform_values(1 / std::sqrt(width)));
}

}  // namespace

Keys keys_of(AdaptiveSoftmaxOptions& it) {
  return {{"cutoffs", &it.cutoffs, any_count(), "symbols",
           "of an adaptive output: numbers of the most frequent symbols before each cluster of rarer ones; "
           "none: a twentieth and a quarter of the vocabulary"},
          {"cluster_divisor", &it.divisor, between(1, 1'000'000),
           "of an adaptive output: by how much the vectors of a cluster are narrower than those of the one "
           "before"}};
}

void check_options(const AdaptiveSoftmaxOptions& options, int64_t width) {
  check_limits_of(options);
  const std::vector<int64_t>& cutoffs = options.cutoffs;
  for (size_t i = 1; i < cutoffs.size(); ++i)
    check_input(cutoffs[i] >= cutoffs[i - 1] + 2,
                "model.cutoffs = [{}]: a cluster from {} to {} is to have two symbols or more: give numbers "
                "that rise by at least 2",
                fmt::join(cutoffs, ", "), cutoffs[i - 1], cutoffs[i]);
  const size_t clusters = cutoffs.empty() ? automatic_clusters : cutoffs.size();
  int64_t inner = width;
  for (size_t i = 1; i <= clusters; ++i) {
    inner /= options.divisor;
    check_input(inner > 0,
                "model.cluster_divisor = {}: of {} units before the output, {} / {}^{} leaves none to the "
                "vectors of cluster {}: make it smaller, the layer wider, or give fewer model.cutoffs",
                options.divisor, width, width, options.divisor, i, i);
  }
}

std::vector<int64_t> automatic_cutoffs(int64_t V) {
  check_input(V >= 5,
              "model.output = \"adaptive\" divides the vocabulary into clusters, and it has only {} symbols: "
              "set model.output = \"softmax\"",
              V);
  const int64_t first = std::max<int64_t>(1, V / 20);
  return {first, std::max(first + 2, V / 4)};
}

AdaptiveSoftmax::Cluster::Cluster(AdaptiveSoftmax& parent, size_t i, int64_t width, int64_t inner,
                                  int64_t symbols, const std::optional<Initializer>& weights)
    : Module(parent, fmt::format("tail.{}", i)),
      projection(*this, "0.weight", {inner, width}, initial_values(weights, width)),
      weight(*this, "1.weight", {symbols, inner}, initial_values(weights, inner)) {}

AdaptiveSoftmax::AdaptiveSoftmax(Module& parent, std::string softmax_name, int64_t width, int64_t V,
                                 const AdaptiveSoftmaxOptions& options,
                                 const std::optional<Initializer>& weights)
    : Module(parent, std::move(softmax_name)),
      cutoffs_(cutoffs_for(options, width, V)),
      symbols_(V),
      head_(*this, "head.weight", {cutoffs_.front() + std::ssize(cutoffs_), width},
            initial_values(weights, width)) {
  int64_t inner = width;
  for (size_t i = 0; i < cutoffs_.size(); ++i) {
    inner /= options.divisor;
    const int64_t end = i + 1 < cutoffs_.size() ? cutoffs_[i + 1] : V;
    tail_.push_back(std::make_unique<Cluster>(*this, i, width, inner, end - cutoffs_[i], weights));
  }
}

CrossEntropy AdaptiveSoftmax::cross_entropy(const Variable& x, const Tokens& targets) const {
  std::vector<int32_t> in_head = targets->values();
  std::vector<std::vector<int32_t>> rows(tail_.size()), in_cluster(tail_.size());
  for (size_t r = 0; r < in_head.size(); ++r) {
    const int32_t target = in_head[r];
    check(target < symbols_, "[adaptive_softmax] target {} at {} is not in [-1, {})", target, r, symbols_);
    if (target < cutoffs_.front()) continue;
    const auto next = std::ranges::upper_bound(cutoffs_, target);
    const auto i = static_cast<size_t>(next - cutoffs_.begin()) - 1;
    rows[i].push_back(static_cast<int32_t>(r));
    in_cluster[i].push_back(static_cast<int32_t>(target - cutoffs_[i]));
    in_head[r] = static_cast<int32_t>(cutoffs_.front() + static_cast<int64_t>(i));
  }
  CrossEntropy loss = linear_cross_entropy(x, head_, {}, tokens(std::move(in_head)));
  const Tensor each = clone(loss.each.reshaped({std::ssize(*targets), 1}));
  for (size_t i = 0; i < tail_.size(); ++i) {
    if (rows[i].empty()) continue;
    const Tokens of_cluster = tokens(std::move(rows[i]));
    const auto [total, some] = linear_cross_entropy(linear(gather_rows(x, of_cluster), tail_[i]->projection),
                                                    tail_[i]->weight, {}, tokens(std::move(in_cluster[i])));
    loss.total = loss.total + total;
    accumulate_rows(some.reshaped({std::ssize(*of_cluster), 1}), *of_cluster, each);
  }
  loss.each = each.reshaped(loss.each.shape());
  return loss;
}

Variable AdaptiveSoftmax::log_probabilities(const Variable& x) const {
  const Variable first = log_softmax(linear(x, head_));
  std::vector<Variable> parts = {first.slice_columns(0, cutoffs_.front())};
  for (size_t i = 0; i < tail_.size(); ++i) {
    const Cluster& cluster = *tail_[i];
    const int64_t column = cutoffs_.front() + static_cast<int64_t>(i);
    const Variable ones(Tensor::filled({1, cluster.weight.shape()[0]}, 1, x.value().device()));
    parts.push_back(log_softmax(linear(linear(x, cluster.projection), cluster.weight)) +
                    matmul(first.slice_columns(column, column + 1), ones));
  }
  return concat(parts);
}

}  // namespace rondo
