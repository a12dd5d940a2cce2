// Deep transitions.
#include "nn/cells/deep_transition.h"

#include "autograd/operators/functions.h"

namespace rondo {

Layers::Layer::Layer(Cell& cell, int64_t number, int64_t from, int64_t to)
    : V(cell, fmt::format("weight_{}", number), {to}, from),
      b(cell, fmt::format("bias_{}", number), {to}, cell.options.biases) {}

Layers::Layers(Cell& cell, int64_t from, const std::vector<int64_t>& sizes, int64_t first) {
  for (const int64_t to : sizes) {
    layers_.push_back(std::make_unique<Layer>(cell, first++, from, to));
    from = to;
  }
}

Variable Layers::operator()(Variable u) const {
  for (const auto& layer : layers_) u = tanh(linear(u, layer->V, {layer->b}));
  return u;
}

DeepTransition::DeepTransition(Cell& cell)
    : layers_(cell, cell.hidden(), cell.settings<TransitionSettings>().sizes(cell.options), 1) {}

DeepTransitionRnn::DeepTransitionRnn(Module& parent, const std::string& suffix,
                                     const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      b(*this, "bias_1", {sizes.front()}, options.biases),
      W(*this, "weight_ih", {sizes.front()}, {&b}),
      U(*this, "weight_hh", {sizes.front()}, hidden()),
      inner(*this, sizes.front(), {sizes.begin() + 1, sizes.end()}, 2),
      V(*this, fmt::format("weight_{}", sizes.size() + 1), {hidden()}, sizes.back()),
      b_last(*this, fmt::format("bias_{}", sizes.size() + 1), {hidden()}, options.biases) {
  check_has_one_bias(*this);
}

Variable DeepTransitionRnn::last(StepInputs& x, const State& previous) {
  return linear(inner(tanh(add_linear(x.take(W), previous.h, U))), V, {b_last});
}

State DeepTransitionRnn::step(StepInputs& x, const State& previous) { return {tanh(last(x, previous))}; }

DeepTransitionRnnWithShortcut::DeepTransitionRnnWithShortcut(Module& parent, const std::string& suffix,
                                                             const CellOptions& cell_options)
    : DeepTransitionRnn(parent, suffix, cell_options), S(*this, "weight_shortcut", {hidden()}, hidden()) {}

State DeepTransitionRnnWithShortcut::step(StepInputs& x, const State& previous) {
  return {tanh(add_linear(last(x, previous), previous.h, S))};
}

}  // namespace rondo
