// Label smoothing.
#include "nn/output/label_smoothing.h"

#include "autograd/operators/arithmetic.h"
#include "autograd/sequence.h"

namespace rondo {

CrossEntropy smoothed_cross_entropy(const Variable& x, const Variable& weight, const Variable& bias,
                                    const Tokens& targets, double smoothing) {
  CrossEntropy loss = linear_cross_entropy(x, weight, bias, targets);
  std::vector<int32_t> rows, symbols;  // of the scored targets
  for (size_t i = 0; i < targets->size(); ++i)
    if ((*targets)[i] >= 0) {
      rows.push_back(static_cast<int32_t>(i));
      symbols.push_back((*targets)[i]);
    }
  if (smoothing == 0 || rows.empty()) return loss;
  const int64_t V = weight.shape()[0];
  const auto count = static_cast<real>(rows.size()), share = 1 / static_cast<real>(V);
  const Tokens y = tokens(std::move(symbols));
  const Variable scored = gather_rows(x, tokens(std::move(rows)));
  const Variable mean_weight = sum_over_first(weight) * share;
  Variable above_mean = sum(scored * (embedding(weight, y) - mean_weight));
  if (bias.defined())
    above_mean = above_mean + sum(embedding(reshape(bias, {V, 1}), y)) - sum(bias) * (count * share);
  loss.total = loss.total + above_mean * static_cast<real>(smoothing);
  return loss;
}

}  // namespace rondo
