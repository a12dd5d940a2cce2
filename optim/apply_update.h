// From an update struct to one pass over flat buffers: apply_update(SgdUpdate{rate}, {values, gradients},
// {values}). It deliberately knows no formula (optim/updates.h) and no optimizer (optim/optimizer.h).
#pragma once

#include <vector>

#include "optim/updates.h"
#include "tensor/pointwise.h"
#include "tensor/tensor.h"

namespace rondo {

/// The list of optim/updates.h with its launchers.
const std::vector<PointwiseOperator>& update_operators();

/// The numbers of a formula, at most.
constexpr size_t max_update_bytes = 64;

namespace detail {
void apply_update(const char* name, const void* update, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs);
}

/// outputs = update(inputs), element by element, under a StepControl; an output may be an input. All are
/// vectors of one size [N] on one device. Throws Error if they are not, if their number does not fit the
/// update, or if it is on no list.
template <class Update>
void apply_update(const Deferred<Update>& update, const StepControl& control,
                  const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  static_assert(sizeof(Update) <= max_update_bytes);
  const Launched<Update> launched{update, control};
  detail::apply_update(Update::name, &launched, inputs, outputs);
}
/// At once, with the second input, the gradient, times `gradient_scale`.
template <class Update>
void apply_update(const Update& update, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                  double gradient_scale = 1) {
  apply_update(Deferred<Update>(update), {static_cast<real>(gradient_scale)}, inputs, outputs);
}

}  // namespace rondo
