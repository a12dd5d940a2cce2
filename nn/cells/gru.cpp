// Gated recurrent unit, reset before and after the product.
#include "nn/cells/gru.h"

namespace rondo {
namespace {

/// b alone, which no reset gate filters.
std::vector<const Parameter*> unfiltered(const GateBiases& biases) {
  if (!biases.input) return {};
  return {biases.input.get()};
}

}  // namespace

Gru::Gru(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 3, options),
      x_gates(*this, "weight_ih", 3 * hidden(), options, biases.all()),
      U(*this, "weight_hh", {3 * hidden(), hidden()}, options.recurrent_weights.per_gate(3)) {}

ResetAndUpdate gru_reset_and_update(const Variable& r_and_z, int64_t M) {
  return {r_and_z.slice_columns(0, M).as_part(),
          r_and_z.slice_columns(M, r_and_z.shape().columns()).as_part()};
}

Variable gru_state_with_reset_after(const Variable& from_x, const Variable& from_h, const Variable& h) {
  const auto gate = [H = h.shape().columns()](const Variable& gates, int64_t k) {
    return gates.slice_columns(k * H, (k + 1) * H);
  };
  return pointwise(GruResetAfter{}, gate(from_x, 0), gate(from_x, 1), gate(from_x, 2), gate(from_h, 0),
                   gate(from_h, 1), gate(from_h, 2), h);
}

Variable gru_state(StepInputs& x, const Projection& x_gates, const Variable& past, const Recurrent& U,
                   const Variable& kept) {
  const int64_t M = past.shape().columns(), H = kept.shape().columns(), candidate = M + H;
  const auto [r, z] =
      gru_reset_and_update(add_linear(x.take(x_gates, 0, candidate), past, U.rows(0, candidate)), M);
  const Variable n = add_linear(x.take(x_gates, candidate, candidate + H), pointwise(GruReset{}, r, past),
                                U.rows(candidate, candidate + H));
  return pointwise(GruUpdate{}, z, n, kept);
}

State Gru::step(StepInputs& x, const State& previous) {
  return {gru_state(x, x_gates, previous.h, U, previous.kept()), {}};
}

GruWithResetAfter::GruWithResetAfter(Module& parent, const std::string& suffix,
                                     const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 3, options),
      x_gates(*this, "weight_ih", 3 * hidden(), options, unfiltered(biases)),
      U(*this, "weight_hh", {3 * hidden(), hidden()}, options.recurrent_weights.per_gate(3)) {}

State GruWithResetAfter::step(StepInputs& x, const State& previous) {
  const Variable from_h =
      biases.recurrent ? linear(previous.h, U, {*biases.recurrent}) : linear(previous.h, U);
  return {gru_state_with_reset_after(x.take(x_gates), from_h, previous.kept()), {}};
}

}  // namespace rondo
