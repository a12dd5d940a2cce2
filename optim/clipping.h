// Clipping of gradients by their global norm. It deliberately keeps no state. Next: optim/step_control.h,
// optim/optimizer.h.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)), as PyTorch does (Pascanu et al. 2013, algorithm
/// 1), and returns their Euclidean norm before. max_norm 0: only the norm. If the returned norm is not finite
/// (a gradient is not, or its square overflows), nothing was scaled and the caller must not update:
/// std::isfinite tells. Throws Error for a negative max_norm.
double clip_gradient_norm(const Tensor& gradients, double max_norm);

/// The same in two steps, for an optimizer that scales as it goes: the norm, and what to multiply gradients
/// of this norm by (1 where nothing is to be clipped, or the norm is not finite).
double gradient_norm(const Tensor& gradients);
double clipping_factor(double norm, double max_norm);
constexpr double clipping_guard = 1e-6;  // PyTorch's, against a norm of zero

}  // namespace rondo
