// Deep transitions.
#include "nn/cells/deep_transition.h"

namespace rondo {
namespace {

std::vector<int64_t> inner_sizes(const CellOptions& options) {
  return options.transition.empty() ? std::vector{options.hidden_size} : options.transition;
}

/// Without the first layer, which sees x as well.
std::vector<int64_t> after_the_first(const CellOptions& options) {
  std::vector<int64_t> sizes = inner_sizes(options);
  sizes.erase(sizes.begin());
  return sizes;
}

}  // namespace

Transition::Layer::Layer(Cell& cell, int64_t number, int64_t from, int64_t to)
    : V(cell, fmt::format("weight_{}", number), {to, from}, cell.options.recurrent_weights),
      b(cell, fmt::format("bias_{}", number), {to}, cell.options.biases) {}

Transition::Transition(Cell& cell, int64_t from, const std::vector<int64_t>& sizes, int64_t first) {
  for (const int64_t to : sizes) {
    layers_.push_back(std::make_unique<Layer>(cell, first++, from, to));
    from = to;
  }
}

Variable Transition::operator()(Variable u) const {
  for (const auto& layer : layers_) u = tanh(linear(u, layer->V, {layer->b}));
  return u;
}

DeepTransitionRnn::DeepTransitionRnn(Module& parent, const std::string& suffix,
                                     const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      b(*this, "bias_1", {inner_sizes(options).front()}, options.biases),
      W(*this, "weight_ih", inner_sizes(options).front(), options, {&b}, 1),
      U(*this, "weight_hh", {inner_sizes(options).front(), hidden()}, options.recurrent_weights),
      inner(*this, inner_sizes(options).front(), after_the_first(options), 2),
      V(*this, fmt::format("weight_{}", inner_sizes(options).size() + 1),
        {hidden(), inner_sizes(options).back()}, options.recurrent_weights),
      b_last(*this, fmt::format("bias_{}", inner_sizes(options).size() + 1), {hidden()}, options.biases) {}

Variable DeepTransitionRnn::last(StepInputs& x, const State& previous) {
  return linear(inner(tanh(add_linear(x.take(W), previous.h, U))), V, {b_last});
}

State DeepTransitionRnn::step(StepInputs& x, const State& previous) { return {tanh(last(x, previous)), {}}; }

DeepTransitionRnnWithShortcut::DeepTransitionRnnWithShortcut(Module& parent, const std::string& suffix,
                                                             const CellOptions& cell_options)
    : DeepTransitionRnn(parent, suffix, cell_options),
      S(*this, "weight_shortcut", {hidden(), hidden()}, options.recurrent_weights) {}

State DeepTransitionRnnWithShortcut::step(StepInputs& x, const State& previous) {
  return {tanh(add_linear(last(x, previous), previous.h, S)), {}};
}

DeepTransitionLstm::DeepTransitionLstm(Module& parent, const std::string& suffix,
                                       const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 4, options, options.forget_bias),
      z(*this, "weight_ih", 4 * hidden(), options, biases.all()),
      inner(*this, hidden(), inner_sizes(options), 1),
      U(*this, "weight_hh", {4 * hidden(), inner_sizes(options).back()},
        options.recurrent_weights.per_gate(4)) {}

State DeepTransitionLstm::step(StepInputs& x, const State& previous) {
  return lstm_state(add_linear(x.take(z), inner(previous.h), U), previous.c);
}

DeepTransitionGru::DeepTransitionGru(Module& parent, const std::string& suffix,
                                     const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      gates(gru_gates(inner_sizes(options).back(), hidden())),
      biases(*this, gates, options),
      x_gates(*this, "weight_ih", gates, options, biases.all()),
      inner(*this, hidden(), inner_sizes(options), 1),
      U(*this, "weight_hh", {gates.front() + 2 * hidden(), gates.front()},
        options.recurrent_weights.per_gate(gates)) {}

State DeepTransitionGru::step(StepInputs& x, const State& previous) {
  return {gru_state(x, x_gates, inner(previous.h), U, previous.kept()), {}};
}

}  // namespace rondo
