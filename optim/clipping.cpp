// Clipping: one norm, one multiplication.
#include "optim/clipping.h"

#include <algorithm>
#include <cmath>

namespace rondo {

namespace {
constexpr double guard = 1e-6;  // PyTorch's, against a norm of zero
}

double gradient_norm(const Tensor& gradients) { return std::sqrt(sum_of_squares(gradients)); }

double clipping_factor(double norm, double max_norm) {
  check(max_norm >= 0, "[clipping] the largest norm must not be negative: {}", max_norm);
  if (max_norm == 0 || !std::isfinite(norm)) return 1;
  return std::min(1.0, max_norm / (norm + guard));
}

void judge_step(const Tensor& nats, const Tensor& gradients, double max_norm, const int64_t* slot,
                StepRecord* records, StepVerdict* verdict) {
  const Tensor squares = total_of_squares(gradients);
  kernels(gradients.device())
      .judge_step(nats.data(), squares.data(), static_cast<real>(max_norm), static_cast<real>(guard), slot,
                  records, verdict);
}

double clip_gradient_norm(const Tensor& gradients, double max_norm) {
  const double norm = gradient_norm(gradients), factor = clipping_factor(norm, max_norm);
  if (factor < 1) scale(gradients, static_cast<real>(factor));
  return norm;
}

}  // namespace rondo
