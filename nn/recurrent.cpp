// The recurrent stack.
#include "nn/recurrent.h"

namespace rondo {
namespace {

/// The same value, read from `memory` from now on: the states of all steps lie in sequence, so that neither
/// stack() nor the recurrent weight's gradient has to copy them.
Variable moved(const Variable& x, const Tensor& memory) {
  copy(x.value(), memory);
  return Variable(memory, x.edge());
}

}  // namespace

RecurrentStack::RecurrentStack(Module& parent, std::string stack_name, const std::string& cell,
                               const std::vector<CellOptions>& layers, double dropout_between)
    : Module(parent, std::move(stack_name)), between_(*this, "dropout", dropout_between) {
  for (size_t i = 0; i < layers.size(); ++i)
    layers_.push_back(make_cell(cell, *this, fmt::format("_l{}", i), layers[i]));
}

RecurrentStack::Result RecurrentStack::operator()(const Variable& x, const std::vector<State>& states) {
  check(x.shape().dimensions() == 3, "[recurrent] x is [T, B, I], got {}", x.shape());
  check(states.size() == layers_.size(), "[recurrent] {} layers need {} states, got {}", layers_.size(),
        layers_.size(), states.size());
  Result result{x, {}};
  for (size_t i = 0; i < layers_.size(); ++i) {
    Cell& cell = *layers_[i];
    if (i > 0) result.output = between_(result.output);
    cell.begin_chunk();
    std::vector<StepInputs> inputs = cell.project(result.output);
    const int64_t T = x.shape()[0];
    const Tensor sequence({T + 1, x.shape()[1], cell.options.hidden_size}, x.value().device());
    State state = states[i];
    state.h = moved(state.h, sequence[0].as_part());
    std::vector<Variable> outputs;
    for (int64_t t = 0; t < T; ++t) {
      const int64_t steps = state.steps + 1;
      state = cell.step(inputs[t], state);
      state.steps = steps;
      state.h = moved(state.h, sequence[t + 1].as_part());
      outputs.push_back(state.h);
    }
    result.output = stack(outputs);
    result.states.push_back(state);
  }
  return result;
}

std::vector<State> RecurrentStack::initial_states(int64_t batch) const {
  std::vector<State> states;
  for (const auto& layer : layers_) states.push_back(layer->initial_state(batch));
  return states;
}

}  // namespace rondo
