// What becomes of a training step once its gradients are there: how much they are scaled, and whether
// anything is changed at all. On a CPU the trainer decides (optim/clipping.h); on a GPU the device does, and
// the host reads later what it was.
#pragma once

#include "tensor/deferred.h"

namespace rondo {

class Tensor;

/// What the updates of a step are told when they run.
struct StepControl {
  Deferred<real> gradient_scale = 1;  // clipping
  Deferred<int32_t> stop = 0;         // not 0: a loss or a norm was not finite, nothing changes any more
};

/// A step's loss, a sum, and its gradients' norm before clipping.
struct StepRecord {
  real loss, norm;
};
/// Where StepControl finds its numbers.
struct StepDecision {
  real gradient_scale = 1;
  int32_t stop = 0;

  static StepControl control(const StepDecision* at) {
    return {Deferred<real>::found_at(&at->gradient_scale), Deferred<int32_t>::found_at(&at->stop)};
  }
};

/// Decides where the gradients lie, without waiting for them: records[*slot] = {loss, norm}; the scale of
/// clip_gradient_norm(); and stops, for good, once either is not finite. loss is [1]; all pointers are the
/// device's.
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
