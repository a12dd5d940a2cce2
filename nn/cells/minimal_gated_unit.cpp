// The minimal gated unit.
#include "nn/cells/minimal_gated_unit.h"

#include "autograd/operators/cells.h"
#include "autograd/operators/gru_gates.h"

namespace rondo {
namespace {

/// The forget gate's bias in MGU1 and MGU3; null elsewhere, and if there are no biases.
std::unique_ptr<Parameter> bias_of_gate(Cell& cell, MguGate variant) {
  const bool has_biases = cell.settings<GateBiasSettings>().biases > 0;
  check_input(
      has_biases || variant != MguGate::mgu3,
      "model.mgu_gate = \"mgu3\" has a forget gate of its bias alone, which model.biases = 0 leaves out: "
      "set model.biases to 1, or choose another model.mgu_gate");
  if (!has_biases || variant == MguGate::full || variant == MguGate::mgu2) return nullptr;
  return std::make_unique<Parameter>(cell, "bias_f", Shape{cell.hidden()}, cell.options.biases);
}

}  // namespace

MinimalGatedUnit::MinimalGatedUnit(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, {of_x}),
      b_f(bias_of_gate(*this, variant)),
      W(*this, "weight_ih", of_x, biases.all()),
      U(*this, "weight_hh", of_h, hidden()) {}

Variable MinimalGatedUnit::forget_gate(StepInputs& x, const Variable& h) const {
  if (variant == MguGate::mgu3) return *b_f;
  const Variable U_f = U.rows(0, hidden());
  if (variant == MguGate::full) return add_linear(x.take(W, 0, hidden()), h, U_f);
  return b_f ? linear(h, U_f, {*b_f}) : linear(h, U_f);
}

State MinimalGatedUnit::step(StepInputs& x, const State& previous) {
  const Variable f = forget_gate(x, previous.h);
  const Variable filtered = pointwise(GruReset{}, f, previous.h);
  const int64_t x_rows = sum_of(of_x), h_rows = sum_of(of_h);  // n has the last of them
  const Variable n =
      add_linear(x.take(W, x_rows - hidden(), x_rows), filtered, U.rows(h_rows - hidden(), h_rows));
  return {pointwise_at(x.place_of_h(), HighwayUpdate{}, n, f, previous.h_unmasked())};
}

}  // namespace rondo
