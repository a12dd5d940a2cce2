// Layer normalisation as a join.
#include "nn/cells/layer_norm.h"

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/gru_gates.h"
#include "autograd/operators/normalization.h"

namespace rondo {

LayerNormSum::LayerNormSum(Cell& cell, const StackedGates& gates)
    : gamma_ih_(cell, "gamma_ih", {gates.size()}, constant_values(1)),
      gamma_hh_(cell, "gamma_hh", {gates.size()}, constant_values(1)),
      shifts_(cell, gates, 2, constant_values(0)) {
  if (gates.forget_gate < 0) return;
  gamma_c_ = std::make_unique<Parameter>(cell, "gamma_c", Shape{cell.hidden()}, constant_values(1));
  beta_c_ = std::make_unique<Parameter>(cell, "beta_c", Shape{cell.hidden()}, constant_values(0));
}

Variable LayerNormSum::operator()(StepInputs& x, const Projection& W, const Variable& past,
                                  const Recurrent& U, int64_t begin, int64_t end) const {
  const auto part = [&](const Parameter& it) { return it.variable().slice(begin, end); };
  return pointwise(LayerNormalizedSum{}, normalized_rows(x.take(W, begin, end)),
                   normalized_rows(linear(past, U.rows(begin, end))), part(gamma_ih_), part(gamma_hh_),
                   part(*shifts_.input), part(*shifts_.recurrent));
}

Variable LayerNormSum::of_input(const Variable& Wx, int64_t begin, int64_t end) const {
  return layer_norm(Wx, gamma_ih_.variable().slice(begin, end), shifts_.input->variable().slice(begin, end));
}

Variable LayerNormSum::of_state(const Variable& Uh, int64_t begin, int64_t end) const {
  return layer_norm(Uh, gamma_hh_.variable().slice(begin, end),
                    shifts_.recurrent->variable().slice(begin, end));
}

LayerNormGru::LayerNormGru(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      join(*this, {gates}),
      W(*this, "weight_ih", gates),
      U(*this, "weight_hh", gates, hidden()) {}

State LayerNormGru::step(StepInputs& x, const State& previous) {
  const int64_t H = hidden();
  const std::vector<Variable> gate = split_apart(join(x, W, previous.h, U, 0, 2 * H), {H, H});
  const Variable& r = gate[0];
  const Variable& z = gate[1];
  const Variable from_h = join.of_state(linear(previous.h, U.rows(2 * H, 3 * H)), 2 * H, 3 * H);
  const Variable n = join.of_input(x.take(W, 2 * H, 3 * H), 2 * H, 3 * H) + pointwise(GruReset{}, r, from_h);
  return {pointwise(GruUpdate{}, z, n, previous.h_unmasked())};
}

}  // namespace rondo
