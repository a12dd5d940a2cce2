// The simple recurrent network.
#include "nn/cells/rnn.h"

namespace rondo {

Rnn::Rnn(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 1, options),
      z(*this, "weight_ih", hidden(), options, biases.all()),
      U(*this, "weight_hh", {hidden(), hidden()}, options.recurrent_weights) {}

State Rnn::step(StepInputs& x, const State& previous) {
  return {tanh(add_linear(x.take(z), previous.h, U)), {}};
}

State LinearRnn::step(StepInputs& x, const State& previous) {
  return {add_linear(x.take(z), previous.h, U), {}};
}

}  // namespace rondo
