// The recurrent stack.
#include "nn/recurrent/recurrent_stack.h"

namespace rondo {

RecurrentStack::RecurrentStack(Module& parent, std::string stack_name, const StackOptions& options)
    : Module(parent, std::move(stack_name)),
      between_(*this, "dropout", options.dropout, options.variational) {
  for (size_t i = 0; i < options.layers.size(); ++i) {
    std::vector<Part>& parts = layers_.emplace_back();
    const auto add = [&](const CellOptions& cell, const std::string& suffix, bool reads_embedding) {
      const auto part = [&](const std::string& full_suffix, Direction direction) {
        parts.push_back({std::make_unique<RecurrentLayer>(*this, options.cell, full_suffix, cell,
                                                          options.noise, direction),
                         reads_embedding});
      };
      part(suffix, Direction::forward);
      if (options.bidirectional) part(suffix + "_reverse", Direction::reverse);
    };
    const auto& [major, minor] = options.layers[i];
    const std::string suffix = fmt::format("_l{}", i);
    add(major, suffix, false);
    if (minor) add(*minor, suffix + "_minor", options.minor_input == MinorInput::embedding);
  }
}

RecurrentStack::Result RecurrentStack::operator()(const Variable& x, const std::vector<State>& states,
                                                  const Lengths& lengths) {
  const size_t count = cells().size();
  check(states.size() == count, "[recurrent] {} cells need {} states, got {}", count, count, states.size());
  Result result{x, {}};
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Variable previous = i > 0 ? between_(result.output) : x;
    std::vector<Variable> outputs;
    for (const Part& part : layers_[i]) {
      auto [output, state] =
          (*part.layer)(part.reads_embedding ? x : previous, states[result.states.size()], lengths);
      outputs.push_back(std::move(output));
      result.states.push_back(std::move(state));
    }
    result.output = outputs.size() == 1 ? outputs.front() : concat(outputs);
  }
  return result;
}

std::vector<State> RecurrentStack::initial_states(int64_t batch) const {
  std::vector<State> states;
  for (const Cell* cell : cells()) states.push_back(cell->initial_state(batch));
  return states;
}

std::vector<Cell*> RecurrentStack::cells() const {
  std::vector<Cell*> all;
  for (const auto& layer : layers_)
    for (const Part& part : layer) all.push_back(&part.layer->cell());
  return all;
}

}  // namespace rondo
