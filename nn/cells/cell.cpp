// Projections, recurrent weights, and what all cells share.
#include "nn/cells/cell.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "autograd/observe.h"
#include "autograd/operators/arithmetic.h"

namespace rondo {

const Variable& State::other(const std::string& name) const {
  for (const Named& it : others)
    if (it.name == name) return it.value;
  throw Error(fmt::format("[state] has no {}", name));
}

std::vector<State::Named> State::tensors() const {
  std::vector<Named> all = {{"h", h}};
  if (c.defined()) all.push_back({"c", c});
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

CellOptions pytorch_cell(int64_t input_size, int64_t hidden_size) {
  const Initializer uniform = uniform_values(1 / std::sqrt(hidden_size));
  return {input_size, hidden_size, uniform, uniform, uniform};
}

int64_t sum_of(const GateRows& rows) { return std::accumulate(rows.begin(), rows.end(), int64_t{0}); }

Projection::Projection(Cell& cell, const std::string& weight_name, const GateRows& rows,
                       std::vector<const Parameter*> biases, Reads reads, int64_t window)
    : index_(std::ssize(cell.projections_)),
      reads_(reads),
      weight_(cell, weight_name, {sum_of(rows), cell.options.input_size},
              cell.options.input_weights.per_gate(rows)),
      biases_(std::move(biases)) {
  for (int64_t j = 1; j < window; ++j)
    earlier_weights_.push_back(std::make_unique<Parameter>(cell, fmt::format("{}_{}", weight_name, j),
                                                           weight_.shape(),
                                                           cell.options.input_weights.per_gate(rows)));
  cell.projections_.push_back(this);
}

Variable Projection::operator()(const LayerInput& input, const std::vector<Variable>& earlier) const {
  check(earlier.size() >= earlier_weights_.size(), "[{}] reads {} steps, and was given {}", weight_.name(),
        earlier_weights_.size() + 1, earlier.size() + 1);
  std::vector<Variable> biases;
  for (const Parameter* bias : biases_) biases.push_back(*bias);
  // An observer looks at the product of each row.
  const bool by_table = input.table.defined() && !Observing<OperatorObserver>::current();
  Variable sum = by_table ? gather_rows(linear(input.table, weight_, biases), input.ids)
                          : linear(input.x, weight_, biases);
  for (size_t j = 0; j < earlier_weights_.size(); ++j)
    sum = add_linear(std::move(sum), earlier[j], *earlier_weights_[j]);
  return sum;
}

Recurrent::Recurrent(Cell& cell, const std::string& name, const GateRows& rows, int64_t columns)
    : weight(cell, name, {sum_of(rows), columns}, cell.options.recurrent_weights.per_gate(rows)) {
  cell.recurrents_.push_back(this);
}

Recurrent::Recurrent(Cell& cell, const std::string& name, int64_t size, Initializer initializer)
    : weight(cell, name, {size}, std::move(initializer)) {
  cell.recurrents_.push_back(this);
}

Variable Recurrent::rows(int64_t begin, int64_t end) const {
  return begin == 0 && end == weight.shape()[0] ? effective() : effective().slice(begin, end);
}

Variable StepInputs::operator[](const Projection& projection) {
  const auto index = static_cast<size_t>(projection.index());
  check(taken_[index] == 0, "[cell] this step has taken the projection already; take() is for its last use");
  if (!projected_[index].defined()) projected_[index] = projection(input());
  return projected_[index];
}

Variable StepInputs::take(const Projection& projection) {
  const int64_t width = (*this)[projection].shape().columns();
  return take(projection, 0, width);
}

Variable StepInputs::take(const Projection& projection, int64_t begin, int64_t end) {
  if (begin == 0) (*this)[projection];
  Variable& rest = projected_[static_cast<size_t>(projection.index())];
  int64_t& taken = taken_[static_cast<size_t>(projection.index())];
  check(rest.defined() && begin >= taken, "[cell] columns [{}, {}) of a projection are taken already", begin,
        end);
  const int64_t width = rest.shape().columns();
  if (begin == taken && end - begin == width) {
    taken = end;
    return std::exchange(rest, {});
  }
  Variable block = rest.slice_columns(begin - taken, end - taken);
  Variable after = end - taken < width ? rest.slice_columns(end - taken, width) : Variable();
  if (rest.value().use_count() == (after.defined() ? 3 : 2)) {  // only ours: free the parts separately
    block = block.as_part();
    if (after.defined()) after = after.as_part();
  }
  rest = after;
  taken = end;
  return block;
}

bool Cell::has_cell_state() const {
  const std::vector<StateTensor> tensors = state_tensors();
  return tensors.size() > 1 && tensors[1].name == "c";
}

void Cell::train_initial_state() {
  for (const StateTensor& it : state_tensors()) {
    initial_.push_back(
        it.trainable ? std::make_unique<Parameter>(*this, it.name + "0", Shape{it.width}, constant_values(0))
                     : nullptr);
  }
}

State Cell::initial_state(int64_t batch) const {
  State state;
  auto trained = initial_.begin();
  for (const StateTensor& it : state_tensors()) {
    Variable initial(Tensor::zeros({batch, it.width}, device()));
    if (!initial_.empty())
      if (const auto& vector = *trained++) initial = initial + *vector;
    if (it.name == "h")
      state.h = initial;
    else if (it.name == "c")
      state.c = initial;
    else
      state.others.push_back({it.name, initial});
  }
  return state;
}

void Cell::begin_chunk() {
  for (Recurrent* recurrent : recurrents_) recurrent->begin_chunk();
}

namespace {

/// Cuts the rows of all steps into those of each.
std::vector<Variable> of_steps(const Variable& all, const StepRows& rows) {
  std::vector<Variable> parts;
  for (int64_t begin = 0; const int64_t count : rows) {
    parts.push_back(all.slice(begin, begin + count));
    begin += count;
  }
  return parts;
}

/// Returns, for j from 1 to window - 1, what each row of x [sum of rows, I] was j steps before. What came
/// before the first step is in `before` [B, (window - 1) I], the latest step first.
std::vector<Variable> delayed(const Variable& x, const StepRows& rows, const Variable& before,
                              int64_t window) {
  const int64_t I = x.shape().columns();
  std::vector<Variable> result;
  for (int64_t j = 1; j < window; ++j) {
    std::vector<Variable> parts;
    int64_t begin = 0, end = 0;  // rows of x that follow each other
    int64_t step = 0;            // the first row of the step that is read next
    for (int64_t t = 0; t < std::ssize(rows); ++t) {
      const int64_t count = rows[static_cast<size_t>(t)], back = j - t;
      if (back > 0) {
        parts.push_back(before.slice_columns((back - 1) * I, back * I).slice(0, count));
        continue;
      }
      if (step != end) parts.push_back(x.slice(std::exchange(begin, step), end));
      end = step + count;
      step += rows[static_cast<size_t>(t - j)];
    }
    if (end > begin) parts.push_back(x.slice(begin, end));
    result.push_back(concat_rows(parts));
  }
  return result;
}

}  // namespace

std::vector<StepInputs> Cell::project(const Variable& x, const State& state) const {
  const int64_t T = x.shape()[0], B = x.shape()[1];
  return project(reshape(x, {T * B, x.shape()[2]}), std::vector(static_cast<size_t>(T), B), state);
}

std::vector<Variable> Cell::projected(const LayerInput& input, const std::vector<Variable>& earlier) const {
  std::vector<Variable> values;
  for (const Projection* projection : projections_)
    values.push_back(projection->reads() == Projection::Reads::step ? Variable()
                                                                    : (*projection)(input, earlier));
  return values;
}

std::vector<StepInputs> Cell::project(const LayerInput& input, const StepRows& rows,
                                      const State& state) const {
  const std::vector<Variable> inputs = of_steps(input.x, rows);
  std::vector<Variable> earlier;
  if (window() > 1) earlier = delayed(input.x, rows, state.other("x"), window());
  std::vector<std::vector<Variable>> parts(rows.size());
  for (const Variable& all : projected(input, earlier)) {
    const std::vector<Variable> some =
        all.defined() ? of_steps(all, rows) : std::vector<Variable>(rows.size());
    for (size_t t = 0; t < rows.size(); ++t)  // of one buffer, each freed separately
      parts[t].push_back(all.defined() ? some[t].as_part() : Variable());
  }
  std::vector<StepInputs> steps;
  for (size_t t = 0; t < rows.size(); ++t)
    steps.emplace_back(std::move(parts[t]), inputs[t], state.steps + static_cast<int64_t>(t));
  return steps;
}

StepInputs Cell::project_at_once(const LayerInput& input, const StepRows& rows, State& state) const {
  std::vector<Variable> earlier;
  if (window() > 1) {
    earlier = delayed(input.x, rows, state.other("x"), window());
    for (State::Named& it : state.others)
      if (it.name == "x") it.value = earlier.size() == 1 ? earlier[0] : concat(earlier);
  }
  return {projected(input, earlier), input.x, state.steps, rows};
}

bool look_across_rows(const std::vector<Cell*>& cells) {
  return std::ranges::any_of(cells, [](const Cell* it) { return it->looks_across_rows(); });
}

}  // namespace rondo
