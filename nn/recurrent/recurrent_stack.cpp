// The recurrent stack.
#include "nn/recurrent/recurrent_stack.h"

namespace rondo {

RecurrentStack::RecurrentStack(Module& parent, std::string stack_name, const StackOptions& options)
    : Module(parent, std::move(stack_name)),
      between_(*this, "dropout", options.dropout, options.variational),
      bidirectional_(options.bidirectional) {
  const bool blocks = options.block.kind == BlockKind::residual;
  if (blocks) add_blocks(options);
  for (size_t i = 0; !blocks && i < options.layers.size(); ++i) {
    const int64_t embedding = options.layers[0].major.input_size, previous = i > 0 ? width(i - 1) : embedding;
    std::vector<Part>& parts = layers_.emplace_back();
    const auto add = [&](const CellOptions& cell, const std::string& suffix, bool reads_embedding) {
      const int64_t given = reads_embedding ? embedding : previous;
      check(cell.input_size == given, "[{}{}] reads {} numbers a step, but is given {}", options.cell, suffix,
            cell.input_size, given);
      const auto part = [&](const std::string& full_suffix, Direction direction) {
        parts.push_back({std::make_unique<RecurrentLayer>(*this, options.cell, full_suffix, cell,
                                                          options.regularization, direction),
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

void RecurrentStack::add_blocks(const StackOptions& options) {
  const int64_t width = options.layers.at(0).major.input_size;
  for (size_t i = 0; i < options.layers.size(); ++i) {
    const auto& [cell, minor] = options.layers[i];
    const std::string number = fmt::format("_l{}", i);
    check(!minor && !bidirectional_ && cell.input_size == width &&
              cell.hidden_size == options.block.cell_units(width),
          "[{}{}] a residual block has one cell, in one direction, of {} inputs and {} units", options.cell,
          number, width, options.block.cell_units(width));
    blocks_.push_back(std::make_unique<ResidualBlock>(*this, "block" + number, width, options.block));
    std::vector<Part>& parts = layers_.emplace_back();
    if (options.block.convolution)
      parts.push_back({std::make_unique<RecurrentLayer>(*this, "convolution", "_convolution" + number,
                                                        pytorch_cell(width, width)),
                       false});
    parts.push_back(
        {std::make_unique<RecurrentLayer>(*this, options.cell, number, cell, options.regularization), false});
  }
  last_norm_ = std::make_unique<LayerNorm>(*this, "norm", width);
}

int64_t RecurrentStack::width(size_t layer) const {
  if (last_norm_) return last_norm_->weight.shape()[0];
  int64_t sum = 0;
  for (const Part& part : layers_[layer]) sum += part.layer->cell().options.hidden_size;
  return sum;
}

template <class Between, class Run>
RecurrentStack::Result RecurrentStack::through(const LayerInput& x, const std::vector<State>& states,
                                               Between between, Run run) const {
  const size_t count = cells().size();
  check(states.size() == count, "[recurrent] {} cells need {} states, got {}", count, count, states.size());
  Result result{x.x, {}};
  const auto run_part = [&](const Part& part, const LayerInput& input) {
    auto [output, state] = run(*part.layer, input, states[result.states.size()]);
    result.states.push_back(std::move(state));
    return output;
  };
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (!blocks_.empty()) {
      const auto cells_of_block = [&](Variable u) {
        for (const Part& part : layers_[i]) u = run_part(part, u);
        return u;
      };
      result.output =
          (*blocks_[i])(result.output, cells_of_block, [&](const Variable& y) { return between(y, i); });
      continue;
    }
    const LayerInput previous = i > 0 ? LayerInput(between(result.output, i)) : x;
    std::vector<Variable> outputs;
    for (const Part& part : layers_[i])
      outputs.push_back(run_part(part, part.reads_embedding ? x : previous));
    result.output = outputs.size() == 1 ? outputs.front() : concat(outputs);
  }
  if (last_norm_) result.output = (*last_norm_)(result.output);
  return result;
}

RecurrentStack::Result RecurrentStack::operator()(const LayerInput& x, const std::vector<State>& states,
                                                  const Lengths& lengths) {
  masks_.clear();
  return through(
      x, states, [&](const Variable& output, size_t) { return between_(output); },
      [&](RecurrentLayer& layer, const LayerInput& input, const State& state) {
        return layer(input, state, lengths);
      });
}

void RecurrentStack::begin(int64_t batch) {
  check(!bidirectional_, "[recurrent] a bidirectional stack reads the whole sequence, not a step at a time");
  masks_.assign(layers_.size(), {});
  for (size_t i = 0; i < layers_.size(); ++i) {
    for (const Part& part : layers_[i]) part.layer->begin(batch);
    // Also the first block drops what it adds.
    if ((i > 0 || !blocks_.empty()) && between_.variational)
      masks_[i] = between_.mask(batch, width(i > 0 ? i - 1 : 0));
  }
}

RecurrentStack::Result RecurrentStack::step(const Variable& x, const std::vector<State>& states,
                                            const Lengths& lengths) {
  const auto between = [&](const Variable& output, size_t i) {
    if (!between_.variational) return between_(output);
    return masks_[i].defined() ? output * masks_[i] : output;
  };
  return through(x, states, between, [&](RecurrentLayer& layer, const LayerInput& input, const State& state) {
    return layer.step(input.x, state, lengths);
  });
}

std::vector<State> RecurrentStack::initial_states(int64_t batch) const {
  std::vector<State> states;
  for (const Cell* cell : cells()) states.push_back(cell->initial_state(batch));
  return states;
}

Variable last_h(const std::vector<State>& states, bool bidirectional) {
  check(std::ssize(states) > int64_t{bidirectional},
        "[last_h] a state of each direction was expected, got {}", states.size());
  return bidirectional ? concat({states.end()[-2].h, states.back().h}) : Variable(states.back().h);
}

std::vector<Cell*> RecurrentStack::cells() const {
  std::vector<Cell*> all;
  for (const auto& layer : layers_)
    for (const Part& part : layer) all.push_back(&part.layer->cell());
  return all;
}

}  // namespace rondo
