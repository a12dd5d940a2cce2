// The gradient check of a model: every parameter of a module against central differences. For a function of
// tensors: autograd/gradient_check.h.
#pragma once

#include <functional>

#include "autograd/gradient_check.h"
#include "nn/module.h"

namespace rondo {

/// Compares the gradients that backward gives the parameters of `model`, a root on the CPU after finalize(),
/// with differences of `loss`, which computes one number at each call and must be deterministic: without
/// dropout, or with begin_update() before it. Tolerance and kinks: as in check_gradients() of a function.
/// Parameters keep their values; afterwards gradients() holds the gradients of the loss.
inline GradientCheck check_gradients(Module& model, const std::function<Variable()>& loss,
                                     double tolerance = gradient_tolerance) {
  check(model.device() == Device::cpu, "[check_gradients] the model lies on a GPU; check it on the CPU");
  fill(model.gradients(), 0);
  loss().backward();
  GradientCheck result;
  for (const Segment& segment : model.segments())
    result.compare(
        segment.name, part_of(model.values(), segment), part_of(model.gradients(), segment),
        [&] { return loss().value().item(); }, tolerance);
  return result;
}

}  // namespace rondo
