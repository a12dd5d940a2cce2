// From an update struct to one pass over flat buffers: apply_update(SgdUpdate{rate}, {values, gradients},
// {values}). The formulas: optim/updates.h. The optimizers: optim/optimizer.h.
#pragma once

#include <vector>

#include "optim/updates.h"
#include "tensor/pointwise.h"
#include "tensor/tensor.h"

namespace rondo {

/// The list of optim/updates.h with its launchers.
const std::vector<PointwiseOperator>& update_operators();

/// The maximum size of the numbers of a formula.
constexpr size_t max_update_bytes = 64;

namespace detail {
void apply_update(const char* name, const void* update, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs);
}

/// outputs = update(inputs), element by element, under a StepControl; an output may be an input. All are
/// vectors of the same size [N] on the same device. Throws Error otherwise, if the update takes another
/// number of them, or if it is not on a list.
template <class Update>
void apply_update(const Deferred<Update>& update, const StepControl& control,
                  const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  static_assert(sizeof(Update) <= max_update_bytes);
  const Launched<Update> launched{update, control};
  detail::apply_update(Update::name, &launched, inputs, outputs);
}
/// The same at once, with the gradient, which is the second input, times `gradient_scale`.
template <class Update>
void apply_update(const Update& update, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                  double gradient_scale = 1) {
  apply_update(Deferred<Update>(update), {static_cast<real>(gradient_scale)}, inputs, outputs);
}

}  // namespace rondo
