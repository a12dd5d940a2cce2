// The decision on a training step, on the device of the gradients.
#include "optim/step_control.h"

#include "optim/clipping.h"
#include "tensor/tensor.h"

namespace rondo {

void decide_step(const Tensor& loss, const Tensor& gradients, double max_norm, const int64_t* slot,
                 StepRecord* records, StepDecision* decision) {
  const Tensor squares = sum_of_squares_on_device(gradients);
#ifdef RONDO_CUDA
  if (gradients.device() == Device::cuda)
    return cuda::decide_step(loss.data(), squares.data(), static_cast<real>(max_norm),
                             static_cast<real>(clipping_guard), slot, records, decision);
#endif
  cpu::decide_step(loss.data(), squares.data(), static_cast<real>(max_norm),
                   static_cast<real>(clipping_guard), slot, records, decision);
}

}  // namespace rondo
