// Batch normalisation as a join.
#include "nn/cells/batch_norm.h"

namespace rondo {

BatchNormOfGates::BatchNormOfGates(Cell& cell, const StackedGates& gates)
    : width_(gates.size()),
      norm_ih_(cell, "ih", width_, cell.options.max_time_steps),
      norm_hh_(cell, "hh", width_, cell.options.max_time_steps),
      norm_c_(cell, "c", cell.hidden(), cell.options.max_time_steps),
      beta_c_(cell, "beta_c", {cell.hidden()}, constant_values(0)) {}

Variable BatchNormOfGates::of_input(StepInputs& x, const Projection& W, const Variable& shift) const {
  return norm_ih_(x.take(W), x.step(), shift);
}

Variable BatchNormOfGates::of_state(StepInputs& x, const Variable& past, const Recurrent& U,
                                    const Variable& shift) const {
  return norm_hh_(linear(past, U), x.step(), shift);
}

void BatchNormOfGates::check_all(int64_t begin, int64_t end) const {
  check(begin == 0 && end == width_,
        "[batch norm] normalises all {} gates at once, and was asked for [{}, {})", width_, begin, end);
}

}  // namespace rondo
