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

/// Where an update that is launched once and replayed finds its numbers when it runs: those of its formula,
/// the factor of the gradients, and whether nothing is to be changed any more. All on the device.
struct LateNumbers {
  const void* update = nullptr;
  const real* factor = nullptr;
  const int32_t* stopped = nullptr;
};
/// The numbers of a formula, at most.
constexpr size_t most_update_bytes = 64;

namespace detail {
void apply_update(const char* name, const void* update, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs);
}

/// outputs = update(inputs), element by element, with the second input, the gradient, times
/// `gradient_factor`; an output may be an input. All are vectors of one size [N] on one device. Throws Error
/// if they are not, if their number does not fit the update, or if it is on no list.
template <class Update>
void apply_update(const Update& update, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                  double gradient_factor = 1) {
  const Clipped<Update> clipped{update, static_cast<real>(gradient_factor)};
  detail::apply_update(Update::name, &clipped, inputs, outputs);
}
template <class Update>
void apply_update(const LateNumbers& late, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs) {
  static_assert(sizeof(Update) <= most_update_bytes);
  const Clipped<Update> clipped{{}, 1, static_cast<const Update*>(late.update), late.factor, late.stopped};
  detail::apply_update(Update::name, &clipped, inputs, outputs);
}

}  // namespace rondo
