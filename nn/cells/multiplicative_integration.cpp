// Multiplicative integration.
#include "nn/cells/multiplicative_integration.h"

namespace rondo {
namespace {

/// b as the paper starts it, one of each gate.
CellOptions integrated(CellOptions options) {
  options.bias_count = 1;
  options.biases = constant_values(options.integration.b);
  return options;
}

}  // namespace

Integration::Integration(Cell& cell, int64_t gates, const CellOptions& options, double forget_bias)
    : alpha(cell, "alpha", {gates * options.hidden_size}, constant_values(options.integration.alpha)),
      beta1(cell, "beta1", {gates * options.hidden_size}, constant_values(options.integration.beta1)),
      beta2(cell, "beta2", {gates * options.hidden_size}, constant_values(options.integration.beta2)),
      b(cell, gates, options, forget_bias) {}

Variable Integration::operator()(const Variable& Wx, const Variable& Uh) const {
  return (*this)(Wx, Uh, 0, alpha.shape().columns());
}

Variable Integration::operator()(const Variable& Wx, const Variable& Uh, int64_t begin, int64_t end) const {
  const auto part = [&](const Parameter& x) { return x.variable().slice(begin, end); };
  return pointwise(MultiplicativeIntegration{}, Wx, Uh, part(alpha), part(beta1), part(beta2),
                   part(*b.input));
}

MiRnn::MiRnn(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, integrated(cell_options)),
      z(*this, 1, options),
      W(*this, "weight_ih", hidden(), options),
      U(*this, "weight_hh", {hidden(), hidden()}, options.recurrent_weights) {}

State MiRnn::step(StepInputs& x, const State& previous) {
  return {tanh(z(x.take(W), linear(previous.h, U))), {}};
}

State LinearMiRnn::step(StepInputs& x, const State& previous) {
  return {z(x.take(W), linear(previous.h, U)), {}};
}

SimpleMiRnn::SimpleMiRnn(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, integrated(cell_options)),
      b(*this, 1, options),
      W(*this, "weight_ih", hidden(), options),
      U(*this, "weight_hh", {hidden(), hidden()}, options.recurrent_weights) {}

State SimpleMiRnn::step(StepInputs& x, const State& previous) {
  return {tanh(x.take(W) * linear(previous.h, U) + *b.input), {}};
}

MiLstm::MiLstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, integrated(cell_options)),
      z(*this, 4, options, options.forget_bias),
      W(*this, "weight_ih", 4 * hidden(), options),
      U(*this, "weight_hh", {4 * hidden(), hidden()}, options.recurrent_weights.per_gate(4)) {}

State MiLstm::step(StepInputs& x, const State& previous) {
  return lstm_state(z(x.take(W), linear(previous.h, U)), previous.c);
}

MiGru::MiGru(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, integrated(cell_options)),
      joined(*this, 3, options),
      W(*this, "weight_ih", 3 * hidden(), options),
      U(*this, "weight_hh", {3 * hidden(), hidden()}, options.recurrent_weights.per_gate(3)) {}

State MiGru::step(StepInputs& x, const State& previous) {
  const int64_t H = hidden();
  const auto gates = [&](int64_t begin, int64_t end, const Variable& h) {
    return joined(x.take(W, begin, end), linear(h, U.rows(begin, end)), begin, end);
  };
  const auto [r, z] = gru_reset_and_update(gates(0, 2 * H, previous.h), H);
  const Variable n = gates(2 * H, 3 * H, pointwise(GruReset{}, r, previous.h));
  return {pointwise(GruUpdate{}, z, n, previous.kept()), {}};
}

}  // namespace rondo
