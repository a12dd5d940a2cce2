// The minimal gated unit.
#include "nn/cells/minimal_gated_unit.h"

#include "autograd/operators/cells.h"
#include "autograd/operators/gru_gates.h"

namespace rondo {

MinimalGatedUnit::MinimalGatedUnit(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, {gates}),
      W(*this, "weight_ih", gates, biases.all()),
      U(*this, "weight_hh", gates, hidden()) {}

State MinimalGatedUnit::step(StepInputs& x, const State& previous) {
  const int64_t H = hidden();
  const Variable f = add_linear(x.take(W, 0, H), previous.h, U.rows(0, H));
  const Variable filtered = pointwise(GruReset{}, f, previous.h);
  const Variable n = add_linear(x.take(W, H, 2 * H), filtered, U.rows(H, 2 * H));
  return {pointwise(HighwayUpdate{}, n, f, previous.h_unmasked())};
}

}  // namespace rondo
