// Clipping of gradients by their global norm. Next: optim/step_control.h, optim/optimizer.h.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)), like PyTorch (Pascanu et al. 2013, algorithm 1),
/// and returns their Euclidean norm before scaling. max_norm 0: only the norm. If the returned norm is not
/// finite (a gradient is not, or its square overflows), nothing was scaled and the caller must not update.
/// Throws Error for a negative max_norm.
double clip_gradient_norm(const Tensor& gradients, double max_norm);

/// The same in two steps, for an optimizer that scales gradients in its update: the norm, and the factor for
/// gradients of this norm (1 if there is nothing to clip, or the norm is not finite).
double gradient_norm(const Tensor& gradients);
double clipping_factor(double norm, double max_norm);
constexpr double clipping_guard = 1e-6;  // PyTorch's, against a norm of zero

}  // namespace rondo
