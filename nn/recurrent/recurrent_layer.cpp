// One cell along time.
#include "nn/recurrent/recurrent_layer.h"

#include <algorithm>

namespace rondo {
namespace {

/// The same value, read from `memory` from now on: the states of all steps lie in sequence, so that neither
/// stack() nor the recurrent weight's gradient has to copy them.
Variable moved(const Variable& x, const Tensor& memory) {
  copy(x.value(), memory);
  return Variable(memory, x.edge());
}

/// Which rows are no padding: of all steps, [T B], and of each. Empty where nothing is padded.
struct Valid {
  Rows all;
  std::vector<Rows> of_step;
};

Valid valid_rows(const Lengths& lengths, int64_t T, int64_t B) {
  if (lengths.empty()) return {};
  check(std::ssize(lengths) == B, "[recurrent] {} rows need as many lengths, got {}", B, lengths.size());
  for (const int64_t length : lengths)
    check(0 <= length && length <= T, "[recurrent] a length from 0 to {} was expected: {}", T, length);
  if (std::all_of(lengths.begin(), lengths.end(), [T](int64_t length) { return length == T; })) return {};
  Valid valid;
  std::vector<bool> all;
  for (int64_t t = 0; t < T; ++t) {
    std::vector<bool> rows;
    for (const int64_t length : lengths) rows.push_back(t < length);
    all.insert(all.end(), rows.begin(), rows.end());
    const bool full = std::all_of(rows.begin(), rows.end(), [](bool it) { return it; });
    valid.of_step.push_back(full ? nullptr : std::make_shared<const std::vector<bool>>(std::move(rows)));
  }
  valid.all = std::make_shared<const std::vector<bool>>(std::move(all));
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
  const Variable rows = reshape(x, {T * B, x.shape().columns()});
  return reshape(embedding(rows, tokens(std::move(from))), x.shape());
}

}  // namespace

RecurrentLayer::RecurrentLayer(Module& parent, const std::string& cell, const std::string& suffix,
                               const CellOptions& options, const RecurrentNoise& noise, Direction direction)
    : Module(parent, ""),
      cell_(make_cell(cell, *this, suffix, options)),
      direction_(direction),
      dropout_(*this, "state_dropout" + suffix, noise.dropout),
      zoneout_(*this, "zoneout" + suffix, noise.zoneout),
      zoneout_memory_(*this, "zoneout_memory" + suffix, noise.zoneout_memory),
      weight_drop_(*this, "weight_drop" + suffix, noise.weight_drop) {
  if (noise.weight_drop == 0) return;
  for (Recurrent* weight : cell_->recurrent_weights())
    weight->transform = [this](const Variable& trained) { return weight_drop_(trained); };
}

RecurrentLayer::Result RecurrentLayer::operator()(const Variable& input, const State& initial,
                                                  const Lengths& lengths) {
  check(input.shape().dimensions() == 3, "[recurrent] x is [T, B, I], got {}", input.shape());
  const int64_t T = input.shape()[0], B = input.shape()[1], H = cell_->options.hidden_size;
  const Valid valid = valid_rows(lengths, T, B);
  const bool reverse = direction_ == Direction::reverse;
  const Variable x = select_rows(valid.all, input);
  cell_->begin_chunk();
  std::vector<StepInputs> inputs = cell_->project(reverse ? reversed(x, lengths) : x, valid.of_step);
  const Variable mask = dropout_.mask(B, H);
  const Tensor sequence({T + 1, B, H}, x.value().device());
  State state = initial;
  state.h = moved(state.h, sequence[0].as_part());
  std::vector<Variable> outputs;
  for (int64_t t = 0; t < T; ++t) {
    state = step(inputs[t], state, mask);
    state.h = moved(state.h, sequence[t + 1].as_part());
    outputs.push_back(state.h);
  }
  const Variable output = select_rows(valid.all, stack(outputs));
  return {reverse ? reversed(output, lengths) : output, state};
}

State RecurrentLayer::step(StepInputs& inputs, const State& state, const Variable& mask) {
  const Rows valid = inputs.valid();
  State seen = state;
  if (mask.defined()) seen.h = state.h * mask, seen.unmasked = state.h;
  State next = state;
  if (!valid || std::find(valid->begin(), valid->end(), true) != valid->end()) {
    next = cell_->step(inputs, seen);
    next.h = select_rows(valid, zoned_out(next.h, state.h, zoneout_), state.h);
    if (next.c.defined()) next.c = select_rows(valid, zoned_out(next.c, state.c, zoneout_memory_), state.c);
  }
  next.steps = state.steps + 1;
  return next;
}

Variable RecurrentLayer::zoned_out(const Variable& next, const Variable& old, Dropout& zoneout) const {
  if (zoneout.probability == 0) return next;
  if (training()) return pointwise(Zoneout{}, next, old, zoneout.mask(old.shape()[0], old.shape()[1]));
  const auto kept = static_cast<real>(zoneout.probability);
  return old * kept + next * (1 - kept);
}

}  // namespace rondo
