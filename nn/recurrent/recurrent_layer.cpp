// One cell along time.
#include "nn/recurrent/recurrent_layer.h"

#include <algorithm>

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "nn/recurrent/step_observer.h"

namespace rondo {
namespace {

/// The same value in `memory`, copied unless it was computed there: the states of all steps are then
/// contiguous, so that neither stack() nor the recurrent weight's gradient has to copy them.
Variable moved(const Variable& x, const Tensor& memory) {
  if (x.value().data() == memory.data()) return x;
  copy(x.value(), memory);
  return Variable(memory, x.edge());
}

/// Which rows are not padding: for all steps, [T B], and for each step. Empty if there is no padding.
struct Valid {
  RowMask all;
  std::vector<RowMask> of_step;
};

Valid valid_rows(const Lengths& lengths, int64_t T, int64_t B) {
  check_lengths("recurrent", lengths, B, T);
  Valid valid{rows_within(lengths, T, B), {}};
  if (!valid.all) return {};
  for (auto row = valid.all->begin(); row != valid.all->end(); row += B) {
    const bool full = std::find(row, row + B, 0) == row + B;
    valid.of_step.push_back(full ? nullptr : tokens({row, row + B}));
  }
  return valid;
}

/// The steps of each row in reverse, without its padding; its own inverse.
Variable reversed(const Variable& x, const Lengths& lengths) {
  const int64_t T = x.shape()[0], B = x.shape()[1];
  std::vector<int32_t> from;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t b = 0; b < B; ++b) {
      const int64_t length = lengths.empty() ? T : lengths[static_cast<size_t>(b)];
      from.push_back(static_cast<int32_t>((t < length ? length - 1 - t : t) * B + b));
    }
  return reshape(gather_rows(x, tokens(std::move(from))), x.shape());
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

RecurrentLayer::Result RecurrentLayer::operator()(const Variable& input, const State& initial,
                                                  const Lengths& lengths) {
  const int64_t I = cell_->options.input_size, H = cell_->options.hidden_size;
  check(input.shape().dimensions() == 3 && input.shape()[0] > 0 && input.shape()[2] == I,
        "[{}] x is [T, B, {}], of one step or more, got {}", label_, I, input.shape());
  const int64_t T = input.shape()[0], B = input.shape()[1];
  check_state(initial, B);
  const Valid valid = valid_rows(lengths, T, B);
  const bool reverse = direction_ == Direction::reverse;
  const Variable x = select_rows(valid.all, input);
  begin(B);
  std::vector<StepInputs> inputs = cell_->project(reverse ? reversed(x, lengths) : x, initial, valid.of_step);
  const Tensor sequence = Tensor::for_products({T + 1, B, H}, x.value().device());
  State state = initial;
  state.h = moved(state.h, sequence[0].as_part());
  std::vector<Variable> outputs;
  for (int64_t t = 0; t < T; ++t) {
    const Tensor place = sequence[t + 1].as_part();
    inputs[t].set_place_of_h(place);
    state = next_state(inputs[t], state);
    state.h = moved(state.h, place);
    outputs.push_back(state.h);
  }
  begun_ = 0;
  mask_ = {};
  const Variable output = select_rows(valid.all, stack(outputs));
  return {reverse ? reversed(output, lengths) : output, state};
}

void RecurrentLayer::begin(int64_t batch) {
  cell_->begin_chunk();
  mask_ = dropout_.mask(batch, cell_->options.hidden_size);
  begun_ = batch;
  if (StepObserver* observer = step_observer()) observer->begins(*cell_, batch);
}

RecurrentLayer::Result RecurrentLayer::step(const Variable& x, const State& state, const RowMask& valid) {
  check(direction_ == Direction::forward,
        "[{}] a reverse layer reads the whole sequence, not a step at a time", label_);
  check(begun_ > 0, "[{}] begin() comes before the first step of a chunk", label_);
  const int64_t I = cell_->options.input_size;
  check(x.shape() == Shape{begun_, I}, "[{}] x of a step is {}, as begin() said, got {}", label_,
        Shape{begun_, I}, x.shape());
  check_state(state, begun_);
  const Variable rows = reshape(select_rows(valid, x), {1, begun_, I});
  std::vector<StepInputs> inputs = cell_->project(rows, state, {valid});
  const State next = next_state(inputs[0], state);
  return {select_rows(valid, next.h), next};
}

void RecurrentLayer::check_state(const State& state, int64_t batch) {
  const std::vector<StateTensor> expected = cell_->state_tensors();
  const std::vector<State::Named> given = state.h.defined() ? state.tensors() : std::vector<State::Named>();
  bool fits = given.size() == expected.size();
  for (size_t i = 0; fits && i < given.size(); ++i)
    fits = given[i].name == expected[i].name && given[i].value.shape() == Shape{batch, expected[i].width};
  if (fits) return;
  std::string of_cell, of_state;
  for (const StateTensor& it : expected)
    of_cell += fmt::format("{}{} {}", of_cell.empty() ? "" : ", ", it.name, Shape{batch, it.width});
  for (const State::Named& it : given)
    of_state += fmt::format("{}{} {}", of_state.empty() ? "" : ", ", it.name, it.value.shape());
  throw Error(fmt::format("[{}] a state with {} was expected, got {}", label_, of_cell,
                          of_state.empty() ? "none" : of_state));
}

void RecurrentLayer::check_same_parts(const State& next, const State& state) const {
  bool same = next.others.size() == state.others.size();
  for (size_t i = 0; same && i < next.others.size(); ++i) same = next.others[i].name == state.others[i].name;
  if (same) return;
  std::string given;
  for (const State::Named& it : next.tensors())
    given += fmt::format("{}{}", given.empty() ? "" : ", ", it.name);
  throw Error(fmt::format("[{}] a step returned a state of {}, which are not those of state_tensors()",
                          label_, given));
}

State RecurrentLayer::next_state(StepInputs& inputs, const State& given) {
  StepObserver* const observer = step_observer();
  const RowMask valid = inputs.valid();
  State observed;
  if (observer) observed = observer->before_step(*cell_, given, valid);
  const State& state = observer ? observed : given;
  State seen = state;
  if (mask_.defined()) seen.h = state.h * mask_, seen.h_before_mask = state.h;
  State next = state;
  const bool zones_out = zoneout_.probability > 0;  // h' is then an input of what gives h
  const Tensor place = valid || observer ? Tensor() : inputs.place_of_h();
  inputs.set_place_of_h(zones_out ? Tensor() : place);
  if (!valid || std::find(valid->begin(), valid->end(), 1) != valid->end()) {
    next = cell_->step(inputs, seen);
    next.h = select_rows(valid, zoned_out(next.h, state.h, zoneout_, place), state.h);
    if (next.c.defined()) next.c = select_rows(valid, zoned_out(next.c, state.c, zoneout_memory_), state.c);
    check_same_parts(next, state);
    for (size_t i = 0; i < next.others.size(); ++i)
      next.others[i].value = select_rows(valid, next.others[i].value, state.others[i].value);
  }
  next.steps = state.steps + 1;
  if (observer) return observer->after_step(*cell_, std::move(next), valid);
  return next;
}

Variable RecurrentLayer::zoned_out(const Variable& next, const Variable& old, Dropout& zoneout,
                                   const Tensor& place) const {
  if (zoneout.probability == 0) return next;
  if (training())
    return pointwise_at(place, Zoneout{}, next, old, zoneout.mask(old.shape()[0], old.shape()[1]));
  const auto kept = static_cast<real>(zoneout.probability);
  return old * kept + next * (1 - kept);
}

}  // namespace rondo
