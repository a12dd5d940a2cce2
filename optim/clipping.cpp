// Clipping: one norm, one multiplication.
#include "optim/clipping.h"

#include <cmath>

namespace rondo {

double clip_gradient_norm(const Tensor& gradients, double max_norm) {
  check(max_norm >= 0, "[clipping] the largest norm must not be negative: {}", max_norm);
  constexpr double guard = 1e-6;  // PyTorch's, against a norm of zero
  const double norm = std::sqrt(sum_of_squares(gradients));
  if (max_norm == 0 || !std::isfinite(norm)) return norm;
  const double factor = max_norm / (norm + guard);
  if (factor < 1) scale(gradients, static_cast<real>(factor));
  return norm;
}

}  // namespace rondo
