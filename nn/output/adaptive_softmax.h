// The adaptive softmax, Grave, Joulin, Cissé, Grangier & Jégou 2017, "Efficient softmax approximation for
// GPUs", in the form and with the names of PyTorch's AdaptiveLogSoftmaxWithLoss. Symbols are numbered from
// the most to the least frequent. The first ones, below the first cutoff, are a shortlist in the head; the
// others are divided at the cutoffs into clusters of the tail, whose vectors are narrower the rarer their
// symbols:
//   (1) p(y) = softmax(W_0 x)[y]                                            for y in the shortlist,
//   (2) p(y) = softmax(W_0 x)[S + i - 1] softmax(W_i P_i x)[y - begin_i]    for y in cluster i = 1, 2, ...
// with S symbols in the shortlist, W_0 [S + clusters, H], P_i [H / divisor^i, H] and W_i [symbols of the
// cluster, H / divisor^i]. Nothing is approximated: the p(y) of all symbols sum to 1. A row computes the head
// and at most one cluster, that of its target. Next: autograd/cross_entropy.h, nn/models/language_model.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/cross_entropy.h"
#include "nn/module.h"
#include "tensor/keys.h"

namespace rondo {

struct AdaptiveSoftmaxOptions {
  std::vector<int64_t> cutoffs{};  // the first symbol of each cluster, in order; empty: automatic_cutoffs()
  int64_t divisor = 4;             // of the width, from cluster to cluster
};
Keys keys_of(AdaptiveSoftmaxOptions& options);
/// Throws InputError for cutoffs that leave less than a symbol to the shortlist, or less than two to a
/// cluster, whose distribution would be no choice; and for so many divisions of the `width` H that nothing is
/// left.
void check_options(const AdaptiveSoftmaxOptions& options, int64_t width);

/// V/20 and V/4: two clusters, with a fifth and three quarters of the symbols. By Zipf's law, p(r) ~ 1/r, 5 %
/// of 10,000 to a million symbols are 69 to 79 % of a text, and a row costs 1/16 of the full softmax. The
/// cost model of the paper (section 4) alone would take much smaller heads, as it counts only time: but from
/// here on the head is most of what is left beside the recurrent layers, and what is outside it has a quarter
/// of the width. A model's shapes follow from V alone, so this rule must not change. InputError for V < 5.
std::vector<int64_t> automatic_cutoffs(int64_t V);

class AdaptiveSoftmax : public Module {
 public:
  /// Of `width` H and V symbols. Without `weights`, PyTorch's initial values, U(-1/sqrt(in), 1/sqrt(in)).
  /// InputErrors of check_options(), and for a cutoff that leaves less than two symbols to the last cluster.
  AdaptiveSoftmax(Module& parent, std::string name, int64_t width, int64_t V,
                  const AdaptiveSoftmaxOptions& options, const std::optional<Initializer>& weights);

  /// -log p(target), (1) and (2), of x [N, H], as linear_cross_entropy() of each cluster over its own rows;
  /// target -1: not scored. Throws Error if a target is not in [-1, V).
  CrossEntropy cross_entropy(const Variable& x, const Tokens& targets) const;
  /// log p of all symbols, [N, V], storing all of them.
  Variable log_probabilities(const Variable& x) const;

  /// The first symbol of each cluster of the tail.
  const std::vector<int64_t>& cutoffs() const { return cutoffs_; }

 private:
  struct Cluster : Module {
    Cluster(AdaptiveSoftmax& parent, size_t i, int64_t width, int64_t inner, int64_t symbols,
            const std::optional<Initializer>& weights);
    Parameter projection, weight;  // P_i, W_i
  };

  std::vector<int64_t> cutoffs_;
  int64_t symbols_;
  Parameter head_;  // W_0
  std::vector<std::unique_ptr<Cluster>> tail_;
};

}  // namespace rondo
