// From an update struct to one pass over flat buffers: apply_update(SgdUpdate{rate}, {values, gradients},
// {values}). It deliberately knows no formula (optim/updates.h) and no optimizer (optim/optimizer.h).
#pragma once

#include <vector>

#include "tensor/pointwise.h"
#include "tensor/tensor.h"

namespace rondo {

/// The list of optim/updates.h with its launchers.
const std::vector<PointwiseOperator>& update_operators();

namespace detail {
void apply_update(const char* name, const void* update, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs);
}

/// outputs = update(inputs), element by element; an output may be an input. All are vectors of one size [N]
/// on one device. Throws Error if they are not, if their number does not fit the update, or if it is on no
/// list.
template <class Update>
void apply_update(const Update& update, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs) {
  detail::apply_update(Update::name, &update, inputs, outputs);
}

}  // namespace rondo
