// Sequences without padding.
#include "nn/recurrent/packed_steps.h"

#include <algorithm>
#include <numeric>

namespace rondo {
namespace {

/// None if it leaves all rows where they are.
std::optional<RowMap> map_unless_identity(std::vector<int32_t> from, int64_t rows) {
  bool identity = std::ssize(from) == rows;
  for (size_t i = 0; identity && i < from.size(); ++i) identity = from[i] == static_cast<int32_t>(i);
  if (identity) return {};
  return RowMap(std::move(from), rows);
}

Variable mapped(const std::optional<RowMap>& map, const Variable& x) { return map ? map_rows(x, *map) : x; }

}  // namespace

PackedSteps::PackedSteps(const Lengths& lengths, int64_t T, int64_t B, Direction direction) : T_(T), B_(B) {
  check_lengths("recurrent", lengths, B, T);
  if (lengths.staged) {
    staged_ = lengths.staged;
    rows_.assign(static_cast<size_t>(T), B);
    if (direction == Direction::reverse) steps_ = RowMap(staged_->reversed);
    back_ = steps_ ? steps_ : RowMap(staged_->within);
    return;
  }
  const auto length = [&](int32_t b) { return lengths.empty() ? T : lengths[static_cast<size_t>(b)]; };
  std::vector<int32_t> order(static_cast<size_t>(B)), from;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return length(a) > length(b); });
  int64_t rows = B;
  for (int64_t t = 0; t < T; ++t) {
    while (rows > 0 && length(order[static_cast<size_t>(rows - 1)]) <= t) --rows;
    if (rows == 0) break;
    rows_.push_back(rows);
    for (int64_t i = 0; i < rows; ++i) {
      const int32_t b = order[static_cast<size_t>(i)];
      const int64_t step = direction == Direction::reverse ? length(b) - 1 - t : t;
      from.push_back(static_cast<int32_t>(step * B + b));
    }
  }
  order_ = map_unless_identity(std::move(order), B);
  steps_ = map_unless_identity(std::move(from), T * B);
  if (steps_) back_ = steps_->inverse();
}

LayerInput PackedSteps::packed(const LayerInput& input) const {
  const Variable rows = reshape(input.x, {T_ * B_, input.x.shape().columns()});
  if (staged_ || !input.table.defined()) return mapped(steps_, rows);
  if (!steps_) return {rows, input.table, input.ids};
  std::vector<int32_t> ids;
  for (const int32_t row : *steps_->from()) ids.push_back((*input.ids)[static_cast<size_t>(row)]);
  const Tokens of_steps = tokens(std::move(ids));
  return {gather_rows(input.table, of_steps), input.table, of_steps};
}
Variable PackedSteps::padded(const Variable& steps) const {
  return reshape(mapped(back_, steps), {T_, B_, steps.shape().columns()});
}
Variable PackedSteps::sorted(const Variable& x) const { return mapped(order_, x); }
Variable PackedSteps::unsorted(const Variable& x) const {
  return order_ ? map_rows(x, order_->inverse()) : x;
}

PackedState::PackedState(const PackedSteps& steps, const State& initial)
    : steps_(steps), state_(initial.map([&](const Variable& x) { return steps.sorted(x); })) {}

const State& PackedState::of_first(int64_t rows) {
  const int64_t present = state_.h.shape()[0];
  if (rows == present) return state_;
  const auto slice = [&](int64_t begin, int64_t end) {
    return state_.map([&](const Variable& x) { return x.slice(begin, end); });
  };
  ended_.push_back(slice(rows, present));
  return state_ = slice(0, rows);
}

void PackedState::set(State next) {
  state_ = std::move(next);
  if (steps_.last()) all_.push_back(state_);
}

void PackedState::set_all(const State& states) {
  if (steps_.last()) return set(states);
  const std::vector<int64_t>& rows = steps_.rows();
  int64_t end = 0;
  for (size_t t = 0; t < rows.size(); ++t) {
    end += rows[t];
    if (t + 1 < rows.size() && rows[t + 1] == rows[t]) continue;  // nobody ends here
    of_first(rows[t]);
    set(states.map([&](const Variable& x) {  // a copy: a view would keep the states of all steps
      const Variable last = x.slice(end - rows[t], end);
      return Variable(clone(last.value()), last.edge());
    }));
  }
}

State PackedState::last() const {
  size_t part = 0;
  const auto rows_of = [&](auto first, auto end) {  // of one tensor of these states
    std::vector<Variable> values;
    for (; first != end; ++first) values.push_back(first->tensors()[part].value);
    ++part;
    return values;
  };
  if (steps_.last())
    return state_.map([&](const Variable&) {
      return gather_rows(concat_rows(rows_of(all_.begin() + 1, all_.end())), *steps_.last());
    });
  if (ended_.empty()) return state_;
  return state_.map([&](const Variable& longest) {
    std::vector<Variable> values = rows_of(ended_.rbegin(), ended_.rend());
    values.insert(values.begin(), longest);
    return steps_.unsorted(concat_rows(values));
  });
}

}  // namespace rondo
