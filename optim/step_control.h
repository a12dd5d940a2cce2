// What happens in a training step once the gradients are computed: how much they are scaled, and whether the
// step is applied at all. On a CPU the trainer decides, by the norm of the gradients; on a GPU the device
// decides, and the host reads the decision later. Next: optim/optimizer.h.
#pragma once

#include <span>

#include "tensor/backend.h"
#include "tensor/kernels/step.h"

namespace rondo {

class Tensor;

/// What the updates of a step read when they run.
struct StepControl {
  Deferred<real> gradient_scale = 1;  // clipping
  Deferred<int32_t> stop = 0;         // not 0: a loss or a norm was not finite; no update changes anything
};

/// The control that reads a decision when an update runs.
inline StepControl control_by(const StepDecision* decision) {
  return {Deferred<real>::found_at(&decision->gradient_scale), Deferred<int32_t>::found_at(&decision->stop)};
}

/// Decides on the device of the gradients, without waiting for them (tensor/kernels/step.h). loss is [1]; all
/// pointers are to the device's memory.
void decide_step(const Tensor& loss, const Tensor& gradients, double max_norm, const int64_t* slot,
                 std::span<StepRecord> records, StepDecision* decision);

// --- Clipping ---
// Of gradients by their global norm, on the host.

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
