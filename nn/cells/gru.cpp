// The gated recurrent unit with the reset after the product.
#include "nn/cells/gru.h"

namespace rondo {
namespace {

/// b alone, which is outside the reset gate's product.
std::vector<const Parameter*> unfiltered(const GateBiases& biases) {
  if (!biases.input) return {};
  return {biases.input.get()};
}

}  // namespace

GruWithResetAfter::GruWithResetAfter(Module& parent, const std::string& suffix,
                                     const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, {gates}),
      W(*this, "weight_ih", gates, unfiltered(biases)),
      U(*this, "weight_hh", gates, hidden()) {}

State GruWithResetAfter::step(StepInputs& x, const State& previous) {
  const Variable from_h =
      biases.recurrent ? linear(previous.h, U, {*biases.recurrent}) : linear(previous.h, U);
  return {gru_state_with_reset_after(x.take(W), from_h, previous.h_unmasked(), x.place_of_h())};
}

Variable gru_state_with_reset_after(const Variable& from_x, const Variable& from_h, const Variable& h,
                                    const Tensor& place) {
  const int64_t H = h.shape().columns();
  const std::vector<Variable> x = split(from_x, {H, H, H}), u = split(from_h, {H, H, H});
  return pointwise_at(place, GruResetAfter{}, x[0], x[1], x[2], u[0], u[1], u[2], h);
}

}  // namespace rondo
