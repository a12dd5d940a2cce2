// Long short-term memory.
#include "nn/cells/lstm.h"

namespace rondo {

LstmBase::LstmBase(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 4, options, options.forget_bias),
      z(*this, "weight_ih", 4 * hidden(), options, biases.all()),
      U(*this, "weight_hh", {4 * hidden(), hidden()}, options.recurrent_weights.per_gate(4)) {}

State LstmBase::initial_state(int64_t batch) const {
  const Shape shape{batch, hidden()};
  return {Variable(Tensor::zeros(shape)), Variable(Tensor::zeros(shape))};
}

template <class Gates>
State LstmBase::gated_step(const StepInputs& x, const State& previous) {
  const Variable gates = add_linear(x.take(z), previous.h, U);
  const auto gate = [&](int64_t k) { return gates.column_block(k * hidden(), (k + 1) * hidden()); };
  const auto next = pointwise_outputs(Gates{}, gate(0), gate(1), gate(2), gate(3), previous.c);
  return {next[0], next[1]};
}

State Lstm::step(const StepInputs& x, const State& previous) { return gated_step<LstmGates>(x, previous); }
State LstmSigmoid::step(const StepInputs& x, const State& previous) {
  return gated_step<LstmGatesSigmoid>(x, previous);
}

}  // namespace rondo
