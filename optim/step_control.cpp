// Clipping, and the decision on a training step on the device of the gradients.
#include "optim/step_control.h"

#include <algorithm>
#include <cmath>

#include "tensor/kernels/kernels.h"
#include "tensor/tensor.h"

namespace rondo {

void decide_step(const Tensor& loss, const Tensor& gradients, double max_norm, const int64_t* slot,
                 std::span<StepRecord> records, StepDecision* decision) {
  const Tensor squares = sum_of_squares_on_device(gradients);
  cuda::note_access(decision, sizeof *decision, true);
  cuda::note_access(records.data(), records.size_bytes(), true);
  launch(gradients.device(), {1, 1},
         DecideStep{loss.data(), squares.data(), static_cast<real>(max_norm),
                    static_cast<real>(clipping_guard), slot, records.data(), decision});
}

double gradient_norm(const Tensor& gradients) { return std::sqrt(sum_of_squares(gradients)); }

double clipping_factor(double norm, double max_norm) {
  check(max_norm >= 0, "[clipping] the largest norm must not be negative: {}", max_norm);
  if (max_norm == 0 || !std::isfinite(norm)) return 1;
  return std::min(1.0, max_norm / (norm + clipping_guard));
}

double clip_gradient_norm(const Tensor& gradients, double max_norm) {
  const double norm = gradient_norm(gradients), factor = clipping_factor(norm, max_norm);
  if (factor < 1) scale(gradients, static_cast<real>(factor));
  return norm;
}

}  // namespace rondo
