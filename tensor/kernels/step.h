// The decision on a training step, where the device makes it (optim/step_control.h): how much its gradients
// are scaled, and whether it is applied at all.
#pragma once

#include "tensor/kernels/kernel.h"

namespace rondo {

/// A step's loss, a sum, and its gradients' norm before clipping.
struct StepRecord {
  real loss, norm;
};
struct StepDecision {
  real gradient_scale = 1;
  int32_t stop = 0;
};

/// Of one row: records[*slot] gets the loss and the norm, the root of `squares`; the scale is that of
/// clip_gradient_norm(); `stop` is set for all later steps as well if one of the two is not finite.
struct DecideStep {
  static constexpr auto visit = Visit::rows;
  const real *loss, *squares;
  real most, guard;
  const int64_t* slot;
  StepRecord* records;
  StepDecision* decision;
  HD void operator()(auto row, int64_t) const {
    if (!row.first()) return;
    const real norm = sqrt(Scalar(*squares)).value;
    records[*slot] = {*loss, norm};
    const real ratio = most / (norm + guard);
    decision->gradient_scale = most > 0 && ratio < 1 ? ratio : real(1);
    const auto finite = [](real x) { return x - x == 0; };
    if (!finite(*loss) || !finite(norm)) decision->stop = 1;
  }
};

using StepKernels = KernelList<DecideStep>;

}  // namespace rondo
