// What happens in a training step once the gradients are computed: how much they are scaled, and whether the
// step is applied at all. On a CPU the trainer decides (optim/clipping.h); on a GPU the device decides, and
// the host reads the decision later.
#pragma once

#include "tensor/deferred.h"

namespace rondo {

class Tensor;

/// What the updates of a step read when they run.
struct StepControl {
  Deferred<real> gradient_scale = 1;  // clipping
  Deferred<int32_t> stop = 0;         // not 0: a loss or a norm was not finite; no update changes anything
};

/// A step's loss, a sum, and its gradients' norm before clipping.
struct StepRecord {
  real loss, norm;
};
/// Where StepControl reads its numbers.
struct StepDecision {
  real gradient_scale = 1;
  int32_t stop = 0;

  static StepControl control(const StepDecision* at) {
    return {Deferred<real>::found_at(&at->gradient_scale), Deferred<int32_t>::found_at(&at->stop)};
  }
};

/// Decides on the device of the gradients, without waiting for them: writes records[*slot] = {loss, norm} and
/// the scale of clip_gradient_norm(); sets `stop`, for all later steps as well, if loss or norm is not
/// finite. loss is [1]; all pointers are to the device's memory.
void decide_step(const Tensor& loss, const Tensor& gradients, double max_norm, const int64_t* slot,
                 StepRecord* records, StepDecision* decision);

namespace cpu {
void decide_step(const real* loss, const real* squares, real most, real guard, const int64_t* slot,
                 StepRecord* records, StepDecision* decision);
}
namespace cuda {
void decide_step(const real* loss, const real* squares, real most, real guard, const int64_t* slot,
                 StepRecord* records, StepDecision* decision);
}

}  // namespace rondo
