// Recurrent batch normalisation as a part of a cell: gamma, trained and shared over time, and the population
// statistics of each time step, kept beside it. Cooijmans et al. 2016, section 3. It deliberately has no
// beta: what is added to the normalised value is the caller's, a gate's bias or the other half of a sum. The
// mathematics is autograd/batch_norm.h. Next: nn/cells/batch_norm.h.
#pragma once

#include <string>

#include "autograd/batch_norm.h"
#include "nn/module.h"

namespace rondo {

/// While Module::statistics_momentum() is a number r, a batch is normalised by its own statistics (those of
/// the micro-batch that is computed at once), which then move the population's of its time step by max(r, its
/// share of the rows that the step has seen): 0.05 while training, so a moving average; 0 for the average
/// over what is read from reset() on, which Cooijmans et al. evaluate with (their batches have equally many
/// rows). Without a number it is normalised by the population's.
///
/// Steps count from the last reset of the state; those from the last one on that has statistics share them.
/// Fewer than two rows have no variance: they are normalised by the population's and do not move them.
class BatchNorm {
 public:
  /// Parameter gamma_NAME [width], buffers running_mean_NAME and running_variance_NAME [steps, width] and
  /// rows_seen_NAME [steps]. Gamma starts at 0.1 (their section 4).
  BatchNorm(Module& owner, const std::string& name, int64_t width, int64_t steps);

  /// BN(x) + shift for the rows of a time step, x [B, width]; shift is a vector, a matrix like x, or nothing.
  /// Rows that are not valid do not enter the statistics.
  Variable operator()(const Variable& x, const RowMask& valid, int64_t step,
                      const Variable& shift = {}) const;

  Parameter gamma;
  Buffer mean, variance, rows;

 private:
  void move(const ColumnMoments& batch, int64_t batch_rows, int64_t step, double min_rate) const;
  ColumnMoments population(int64_t step) const;

  const Module& owner_;
};

}  // namespace rondo
