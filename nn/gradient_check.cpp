// The gradient check of a model.
#include "nn/gradient_check.h"

namespace rondo {

GradientCheck check_gradients(Module& model, const std::function<Variable()>& loss, double tolerance) {
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
