// One cell along time.
#include "nn/recurrent/recurrent_layer.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tensor/pieces.h"

namespace rondo {
namespace {

/// The same value in `memory`, copied unless it was computed there: the states of all steps are then
/// contiguous, so that concat_rows() need not copy them, nor, where there is no padding, the gradient of the
/// recurrent weight.
Variable moved(const Variable& x, const Tensor& memory) {
  if (x.value().address() == memory.address()) return x;
  copy(x.value(), memory);
  return Variable(memory, x.edge());
}

}  // namespace

Keys keys_of(RecurrentRegularization& it) {
  return {
      {"weight_drop", &it.weight_drop, any_rate(), "share of elements",
       "of the recurrent weights that are dropped, the same at all steps of a chunk", true},
      {"recurrent_dropout", &it.dropout, any_rate(), "share of units",
       "dropped from the state before recurrent weights read it, the same at all steps of a chunk", true},
      {"zoneout", &it.zoneout, any_rate(), "share of units", "of the state that keep their value for a step",
       true},
      {"zoneout_memory", &it.zoneout_memory, any_rate(), "share of units",
       "of the cell state, in LSTMs and similar cells, that keep their value for a step", true},
  };
}

void check_regularization(const std::string& cell, const RecurrentRegularization& regularization) {
  const CellTraits traits = traits_of(cell);
  check_input(regularization.weight_drop == 0 || traits.recurrent_weights,
              "model.weight_drop drops elements of recurrent weights, and the cell {} has none: leave it out",
              cell);
  check_input(regularization.dropout == 0 || traits.reads_h,
              "model.recurrent_dropout drops units of the state that gates read, and the gates of the "
              "cell {} read none: leave it out",
              cell);
  check_input(regularization.zoneout_memory == 0 || traits.cell_state,
              "model.zoneout_memory keeps units of a cell state, and the cell {} has none: leave it out",
              cell);
}

RecurrentLayer::RecurrentLayer(Module& parent, const std::string& cell, const std::string& suffix,
                               const CellOptions& options, const RecurrentRegularization& regularization,
                               Direction direction)
    : Module(parent, ""),
      label_(cell + suffix),
      cell_(make_cell(cell, *this, suffix, options)),
      direction_(direction),
      dropout_(*this, "state_dropout" + suffix, regularization.dropout),
      zoneout_(*this, "zoneout" + suffix, regularization.zoneout),
      zoneout_memory_(*this, "zoneout_memory" + suffix, regularization.zoneout_memory),
      weight_drop_(*this, "weight_drop" + suffix, regularization.weight_drop) {
  if (options.trained_initial_state) cell_->train_initial_state();
  if (regularization.weight_drop == 0) return;
  for (Recurrent* weight : cell_->recurrent_weights())
    weight->transform = [this](const Variable& trained) { return weight_drop_(trained); };
}

RecurrentLayer::Result RecurrentLayer::operator()(const LayerInput& input, const State& initial,
                                                  const Lengths& lengths) {
  const Variable& x = input.x;
  const int64_t I = cell_->options.input_size;
  check(x.shape().dimensions() == 3 && x.shape()[0] > 0 && x.shape()[2] == I,
        "[{}] x is [T, B, {}], of one step or more, got {}", label_, I, x.shape());
  const int64_t T = x.shape()[0], B = x.shape()[1];
  check_state(initial, B);
  begin_sequence(T, B);
  const PackedSteps steps(lengths, T, B, direction_);
  begin(B, steps.rows());
  Result result = run(input, steps, initial);
  begun_ = 0;
  mask_ = {};
  return result;
}

void RecurrentLayer::begin(int64_t batch, const std::vector<int64_t>& rows) {
  cell_->begin_chunk();
  mask_ = dropout_.mask(batch, cell_->options.hidden_size);
  begun_ = batch;
  if (StepObserver* observer = Observing<StepObserver>::current()) observer->begins(*cell_, rows);
}

RecurrentLayer::Result RecurrentLayer::step(const Variable& x, const State& state, const Lengths& lengths) {
  check(direction_ == Direction::forward,
        "[{}] a reverse layer reads the whole sequence, not a step at a time", label_);
  check(begun_ > 0, "[{}] begin() comes before the first step of a chunk", label_);
  const int64_t I = cell_->options.input_size, B = begun_;
  check(x.shape() == Shape{B, I}, "[{}] x of a step is {}, as begin() said, got {}", label_, Shape{B, I},
        x.shape());
  check_state(state, B);
  Result result = run(reshape(x, {1, B, I}), PackedSteps(lengths, 1, B, direction_), state);
  result.output = reshape(result.output, {B, cell_->options.hidden_size});
  return result;
}

RecurrentLayer::Result RecurrentLayer::run(const LayerInput& input, const PackedSteps& steps,
                                           const State& initial) {
  const int64_t T = input.x.shape()[0], B = input.x.shape()[1], H = cell_->options.hidden_size;
  const Device device = input.x.value().device();
  PackedState state(steps, initial);
  std::vector<Variable> outputs;
  if (!steps.rows().empty()) {  // else all is padding
    const Variable mask = mask_.defined() ? steps.sorted(mask_) : mask_;
    const LayerInput packed = steps.packed(input);
    State before = state.of_first(steps.rows()[0]);
    int64_t row = steps.rows()[0];
    const Tensor sequence = Tensor::for_products({row + packed.x.shape()[0], H}, device);
    before.h = moved(before.h, sequence.slice_rows(0, row).as_part());
    state.set(before);
    std::vector<StepInputs> inputs;
    if (at_once(steps)) {
      StepInputs all = cell_->project_at_once(packed, steps.rows(), before);
      all.out = sequence.slice_rows(row, sequence.rows()).as_part();
      State states = cell_->step(all, before);
      check_same_parts(states, before);
      states.h = moved(states.h, all.out);
      outputs.push_back(states.h);
      state.set_all(states);
    } else {
      inputs = cell_->project(packed, steps.rows(), before);
    }
    for (size_t t = 0; t < inputs.size(); ++t) {
      const int64_t rows = steps.rows()[t];
      const Tensor out = sequence.slice_rows(row, row + rows).as_part();
      inputs[t].out = out;
      State next = next_state(inputs[t], state.of_first(rows), mask, steps);
      next.h = moved(next.h, out);
      outputs.push_back(next.h);
      state.set(std::move(next));
      row += rows;
    }
  }
  Result result{{}, state.last()};
  result.state.steps = initial.steps + T;
  result.output =
      outputs.empty() ? Variable(Tensor::zeros({T, B, H}, device)) : steps.padded(concat_rows(outputs));
  return result;
}

bool RecurrentLayer::at_once(const PackedSteps& steps) const {
  return cell_->scans() && steps.rows().size() > 1 && !mask_.defined() && zoneout_.probability == 0 &&
         zoneout_memory_.probability == 0 && !Observing<StepObserver>::current();
}

void RecurrentLayer::check_state(const State& state, int64_t batch) {
  const std::vector<StateTensor> expected = cell_->state_tensors();
  const std::vector<State::Named> given = state.h.defined() ? state.tensors() : std::vector<State::Named>();
  const auto fits = [&](const State::Named& it, const StateTensor& as) {
    return it.name == as.name && it.value.shape() == Shape{batch, as.width};
  };
  if (std::ranges::equal(given, expected, fits)) return;
  std::vector<std::string> of_cell, of_state;
  for (const StateTensor& it : expected)
    of_cell.push_back(fmt::format("{} {}", it.name, Shape{batch, it.width}));
  for (const State::Named& it : given) of_state.push_back(fmt::format("{} {}", it.name, it.value.shape()));
  throw Error(fmt::format("[{}] a state with {} was expected, got {}", label_, fmt::join(of_cell, ", "),
                          of_state.empty() ? "none" : fmt::format("{}", fmt::join(of_state, ", "))));
}

void RecurrentLayer::check_same_parts(const State& next, const State& state) const {
  if (std::ranges::equal(next.others, state.others, {}, &State::Named::name, &State::Named::name)) return;
  std::vector<std::string> given;
  for (const State::Named& it : next.tensors()) given.push_back(it.name);
  throw Error(fmt::format("[{}] a step returned a state of {}, which are not those of state_tensors()",
                          label_, fmt::join(given, ", ")));
}

State RecurrentLayer::next_state(StepInputs& inputs, const State& given, const Variable& mask,
                                 const PackedSteps& steps) {
  StepObserver* const observer = Observing<StepObserver>::current();
  State observed;
  if (observer) observed = observer->before_step(*cell_, given);
  const State& state = observer ? observed : given;
  State seen = state;
  if (mask.defined()) {
    seen.h = state.h * mask.slice(0, state.h.shape()[0]);
    seen.h_before_mask = state.h;
  }
  const Tensor out = inputs.out;
  if (zoneout_.probability > 0) inputs.out = {};  // the cell's h is then an input of what gives h
  State next = cell_->step(inputs, seen);
  next.h = zoned_out(next.h, state.h, zoneout_, steps, out);
  if (next.c.defined()) next.c = zoned_out(next.c, state.c, zoneout_memory_, steps);
  check_same_parts(next, state);
  next.steps = state.steps + 1;
  if (observer) return observer->after_step(*cell_, std::move(next));
  return next;
}

Variable RecurrentLayer::zoned_out(const Variable& next, const Variable& old, Dropout& zoneout,
                                   const PackedSteps& steps, const Tensor& out) const {
  if (zoneout.probability == 0) return next;
  if (training()) {
    const Variable mask = steps.sorted(zoneout.mask(begun_, old.shape()[1]));
    return pointwise_into(out, Zoneout{}, next, old, mask.slice(0, old.shape()[0]));
  }
  const auto kept = static_cast<real>(zoneout.probability);
  return old * kept + next * (1 - kept);
}

}  // namespace rondo
