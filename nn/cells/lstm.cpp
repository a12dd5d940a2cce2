// Long short-term memory.
#include "nn/cells/lstm.h"

namespace rondo {

LstmBase::LstmBase(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 4, options, options.forget_bias),
      z(*this, "weight_ih", 4 * hidden(), options, biases.all()),
      U(*this, "weight_hh", {4 * hidden(), hidden()}, options.recurrent_weights.per_gate(4)) {}

State lstm_initial_state(int64_t batch, int64_t hidden, Device device) {
  return {Variable(Tensor::zeros({batch, hidden}, device)), Variable(Tensor::zeros({batch, hidden}, device))};
}
State LstmBase::initial_state(int64_t batch) const { return lstm_initial_state(batch, hidden(), device()); }

State Lstm::step(StepInputs& x, const State& previous) {
  return lstm_state(add_linear(x.take(z), previous.h, U), previous.c);
}
State LstmSigmoid::step(StepInputs& x, const State& previous) {
  return lstm_state<LstmGatesSigmoid>(add_linear(x.take(z), previous.h, U), previous.c);
}

}  // namespace rondo
