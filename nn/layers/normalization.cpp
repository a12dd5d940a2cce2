// Recurrent batch normalisation: which statistics, and how they move.
#include "nn/layers/normalization.h"

#include <algorithm>

namespace rondo {

BatchNorm::BatchNorm(Module& owner, const std::string& name, int64_t width, int64_t steps)
    : gamma(owner, "gamma_" + name, {width}, constant_values(0.1)),
      mean(owner, "running_mean_" + name, {steps, width}, 0),
      variance(owner, "running_variance_" + name, {steps, width}, 1, 0),
      rows(owner, "rows_seen_" + name, {steps}, 0, 0),
      owner_(owner) {
  check(steps > 0, "[batch_norm] statistics are kept for one step or more, got {}", steps);
}

Variable BatchNorm::operator()(const Variable& x, int64_t step, const Variable& shift) const {
  const std::optional<double> rate = owner_.statistics_momentum();
  const int64_t batch_rows = x.value().rows();
  const bool of_batch = rate && batch_rows >= 2;
  const ColumnMoments statistics = of_batch ? column_moments(x) : population(step);
  if (of_batch) move(statistics, batch_rows, step, *rate);
  return batch_normalization(
      x, statistics, gamma,
      shift.defined() ? shift : Variable(Tensor::zeros(gamma.shape(), owner_.device())));
}

void BatchNorm::move(const ColumnMoments& batch, int64_t batch_rows, int64_t step, double min_rate) const {
  const int64_t slot = std::min(step, rows.tensor().size() - 1);
  const Tensor counts = rows.tensor().slice(slot, slot + 1);
  const real seen = counts.item() + static_cast<real>(batch_rows);
  fill(counts, seen);
  const real rate = std::max(static_cast<real>(min_rate), static_cast<real>(batch_rows) / seen);
  const auto towards = [&](const Tensor& kept, const Tensor& value) {
    scale(kept, 1 - rate);
    accumulate(value, kept, rate);
  };
  towards(mean.tensor()[slot], batch.mean.value());
  towards(variance.tensor()[slot], batch.variance.value());
}

/// Copies: a later step may change the statistics before backward has run.
ColumnMoments BatchNorm::population(int64_t step) const {
  const std::vector<real> seen = rows.tensor().to_vector();
  int64_t last = rows.tensor().size() - 1;
  while (last > 0 && seen[last] == 0) --last;
  const int64_t slot = std::min(step, last);
  return {clone(mean.tensor()[slot]), clone(variance.tensor()[slot])};
}

}  // namespace rondo
