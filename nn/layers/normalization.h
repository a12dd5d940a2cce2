// Normalisation as modules: layer normalisation, and recurrent batch normalisation, a part of a cell: gamma,
// which is trained and shared over time, and the population statistics of each time step. Cooijmans et al.
// 2016, section 3. There is no beta: the caller adds a gate's bias or the other term of a sum to the
// normalised value. The mathematics is in autograd/functions.h. Next: nn/cells/batch_norm.h.
#pragma once

#include <string>
#include <utility>

#include "autograd/functions.h"
#include "nn/module.h"

namespace rondo {

/// While Module::statistics_momentum() is a number r, a batch is normalised by its own statistics (those of
/// the micro-batch), and the population statistics of the time step move towards them by max(r, the batch's
/// share of all rows that the time step has seen). In training r is 0.05: a moving average. With r = 0 it is
/// the average over everything read since reset(), which Cooijmans et al. use in evaluation (their batches
/// have equal numbers of rows). Without a number, a batch is normalised by the population statistics.
///
/// Time steps are counted from the last reset of the state; all steps beyond the last one with statistics
/// share its statistics. Fewer than two rows have no variance: they are normalised by the population
/// statistics and do not change them.
class BatchNorm {
 public:
  /// Parameter gamma_NAME [width], buffers running_mean_NAME and running_variance_NAME [steps, width] and
  /// rows_seen_NAME [steps]. Gamma starts at 0.1 (their section 4).
  BatchNorm(Module& owner, const std::string& name, int64_t width, int64_t steps);

  /// BN(x) + shift for the rows of a time step, x [B, width]; shift is a vector, a matrix like x, or nothing.
  Variable operator()(const Variable& x, int64_t step, const Variable& shift = {}) const;

  Parameter gamma;
  Buffer mean, variance, rows;

 private:
  void move(const ColumnMoments& batch, int64_t batch_rows, int64_t step, double min_rate) const;
  ColumnMoments population(int64_t step) const;

  const Module& owner_;
};

/// Layer normalisation, Ba, Kiros & Hinton 2016: weight (x - mean) / sqrt(variance + epsilon) + bias, each
/// row of x [.., W] with its own mean and variance, so that other rows and padding have no effect. Names and
/// initial values are PyTorch's: weight 1, bias 0.
struct LayerNorm : Module {
  LayerNorm(Module& parent, std::string name, int64_t width, double added_to_variance = 1e-5)
      : Module(parent, std::move(name)),
        weight(*this, "weight", {width}, constant_values(1)),
        bias(*this, "bias", {width}, constant_values(0)),
        epsilon(static_cast<real>(added_to_variance)) {}

  Variable operator()(const Variable& x) const { return layer_norm(x, weight, bias, epsilon); }

  Parameter weight, bias;
  real epsilon;
};

}  // namespace rondo
