// Cells: projections, recurrent weights, and the list of names.
#include "nn/cells/cell.h"

#include <fmt/ranges.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "nn/cells/batch_norm_lstm.h"
#include "nn/cells/deep_transition.h"
#include "nn/cells/gru.h"
#include "nn/cells/lstm.h"
#include "nn/cells/multiplicative.h"
#include "nn/cells/multiplicative_integration.h"
#include "nn/cells/rnn.h"

namespace rondo {

namespace {
/// Gates are stacked i f g o: the forget gate is the second block of rows.
Initializer biased(const CellOptions& options, double forget_bias) {
  Initializer initializer = options.biases;
  initializer.offset = forget_bias;
  initializer.offset_from = options.hidden_size;
  initializer.offset_to = 2 * options.hidden_size;
  return initializer;
}

int64_t sum(const std::vector<int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t{0});
}
}  // namespace

CellOptions pytorch_cell(int64_t input_size, int64_t hidden_size) {
  const Initializer uniform = uniform_values(1 / std::sqrt(hidden_size));
  return {input_size, hidden_size, uniform, uniform, uniform, 0, 2};
}

Projection::Projection(Cell& cell, const std::string& weight_name, int64_t width, const CellOptions& options,
                       std::vector<const Parameter*> biases, int64_t blocks)
    : index_(static_cast<int64_t>(cell.projections_.size())),
      weight_(cell, weight_name, {width, options.input_size},
              options.input_weights.per_gate(
                  static_cast<int>(blocks > 0 ? blocks : width / options.hidden_size))),
      biases_(std::move(biases)) {
  cell.projections_.push_back(this);
}

Projection::Projection(Cell& cell, const std::string& weight_name, const std::vector<int64_t>& gate_rows,
                       const CellOptions& options, std::vector<const Parameter*> biases)
    : index_(static_cast<int64_t>(cell.projections_.size())),
      weight_(cell, weight_name, {sum(gate_rows), options.input_size},
              options.input_weights.per_gate(gate_rows)),
      biases_(std::move(biases)) {
  cell.projections_.push_back(this);
}

Variable Projection::operator()(const Variable& x) const {
  std::vector<Variable> biases;
  for (const Parameter* bias : biases_) biases.push_back(*bias);
  return linear(x, weight_, biases);
}

Recurrent::Recurrent(Cell& cell, const std::string& name, Shape shape, Initializer initializer)
    : weight(cell, name, shape, initializer) {
  cell.recurrents_.push_back(this);
}

Variable StepInputs::operator[](const Projection& projection) const {
  check(taken_[projection.index()] == 0,
        "[cell] this step has taken the projection already; take() is for its last use");
  return projected_[projection.index()];
}

Variable StepInputs::take(const Projection& projection) {
  const int64_t width = (*this)[projection].shape().columns();
  return take(projection, 0, width);
}

Variable StepInputs::take(const Projection& projection, int64_t begin, int64_t end) {
  Variable& rest = projected_[projection.index()];
  int64_t& taken = taken_[projection.index()];
  check(rest.defined() && begin >= taken, "[cell] columns [{}, {}) of a projection are taken already", begin,
        end);
  const int64_t width = rest.shape().columns();
  if (begin == taken && end - begin == width) {
    taken = end;
    return std::exchange(rest, {});
  }
  Variable block = rest.slice_columns(begin - taken, end - taken);
  Variable after = end - taken < width ? rest.slice_columns(end - taken, width) : Variable();
  if (rest.value().use_count() == (after.defined() ? 3 : 2)) {  // all of them ours: they go apart
    block = block.as_part();
    if (after.defined()) after = after.as_part();
  }
  rest = after;
  taken = end;
  return block;
}

State Cell::initial_state(int64_t batch) const {
  return {Variable(Tensor::zeros({batch, hidden()}, device())), {}};
}

void Cell::begin_chunk() {
  for (Recurrent* recurrent : recurrents_) recurrent->begin_chunk();
}

std::vector<StepInputs> Cell::project(const Variable& x, const std::vector<RowMask>& valid) const {
  std::vector<Variable> projected;
  for (const Projection* projection : projections_) projected.push_back((*projection)(x));
  std::vector<StepInputs> steps;
  for (int64_t t = 0; t < x.shape()[0]; ++t) {
    std::vector<Variable> parts;  // of one buffer, each let go apart from the others
    for (const Variable& all : projected) parts.push_back(all[t].as_part());
    steps.emplace_back(std::move(parts), valid.empty() ? RowMask() : valid[static_cast<size_t>(t)]);
  }
  return steps;
}

GateBiases::GateBiases(Cell& cell, int64_t width, const CellOptions& options, const Initializer& of_input) {
  check(0 <= options.bias_count && options.bias_count <= 2, "[cell] no bias per gate, one or two, got {}",
        options.bias_count);
  check(options.bias_count > 0 || of_input.offset == 0,
        "[cell] a forget bias of {} where gates have no biases: leave it out, or give them one",
        of_input.offset);
  const Shape stacked{width};
  if (options.bias_count >= 1) input = std::make_unique<Parameter>(cell, "bias_ih", stacked, of_input);
  if (options.bias_count == 2)
    recurrent = std::make_unique<Parameter>(cell, "bias_hh", stacked, options.biases);
}

GateBiases::GateBiases(Cell& cell, int64_t gates, const CellOptions& options, double forget_bias)
    : GateBiases(cell, gates * options.hidden_size, options, biased(options, forget_bias)) {}

GateBiases::GateBiases(Cell& cell, const std::vector<int64_t>& gate_rows, const CellOptions& options)
    : GateBiases(cell, sum(gate_rows), options, options.biases) {}

std::vector<const Parameter*> GateBiases::all() const {
  std::vector<const Parameter*> result;
  for (const auto* bias : {&input, &recurrent})
    if (*bias) result.push_back(bias->get());
  return result;
}

namespace {

template <class Made>
std::unique_ptr<Cell> make(Module& parent, const std::string& suffix, const CellOptions& options) {
  return std::make_unique<Made>(parent, suffix, options);
}

struct NamedCell {
  std::string name;
  CellMaker make;
  CellUses uses;
};

/// The catalogue: a cell of any recipe is one line here, or was added.
std::vector<NamedCell>& catalogue() {
  static std::vector<NamedCell> cells = {
      {"rnn", make<Rnn>, {}},
      {"linear_rnn", make<LinearRnn>, {}},
      {"lstm", make<Lstm>, {.memory = true}},
      {"lstm_sigmoid", make<LstmSigmoid>, {.memory = true}},
      {"gru", make<Gru>, {}},
      {"gru_reset_after", make<GruWithResetAfter>, {}},
      {"trnn", make<TensorRnn>, {}},
      {"mrnn", make<MultiplicativeRnn>, {.intermediate = true}},
      {"mlstm", make<MultiplicativeLstm>, {.memory = true, .intermediate = true}},
      {"tmlstm", make<TrueMultiplicativeLstm>, {.memory = true, .intermediate = true}},
      {"mgru", make<MultiplicativeGru>, {.intermediate = true}},
      {"tmgru", make<TrueMultiplicativeGru>, {.intermediate = true}},
      {"mi_rnn", make<MiRnn>, {.integration = true, .integration_bias = true, .bias_count = false}},
      {"mi_rnn_simple", make<SimpleMiRnn>, {.integration_bias = true, .bias_count = false}},
      {"linear_mi_rnn",
       make<LinearMiRnn>,
       {.integration = true, .integration_bias = true, .bias_count = false}},
      {"mi_lstm",
       make<MiLstm>,
       {.memory = true, .integration = true, .integration_bias = true, .bias_count = false}},
      {"mi_gru", make<MiGru>, {.integration = true, .integration_bias = true, .bias_count = false}},
      {"dt_rnn", make<DeepTransitionRnn>, {.transition = true, .bias_count = false}},
      {"dts_rnn", make<DeepTransitionRnnWithShortcut>, {.transition = true, .bias_count = false}},
      {"dt_lstm", make<DeepTransitionLstm>, {.memory = true, .transition = true}},
      {"dt_gru", make<DeepTransitionGru>, {.transition = true}},
      {"bn_lstm", make<BatchNormLstm>, {.memory = true, .batch_statistics = true, .bias_count = false}},
      {"bn_mi_lstm",
       make<BatchNormMiLstm>,
       {.memory = true,
        .integration = true,
        .integration_bias = true,
        .batch_statistics = true,
        .bias_count = false}},
  };
  return cells;
}

}  // namespace

namespace {
const NamedCell& find_cell(const std::string& name) {
  for (const NamedCell& cell : catalogue())
    if (name == cell.name) return cell;
  throw InputError(
      fmt::format("there is no cell '{}'; the cells are {}", name, fmt::join(cell_names(), ", ")));
}
}  // namespace

std::unique_ptr<Cell> make_cell(const std::string& name, Module& parent, const std::string& suffix,
                                const CellOptions& options) {
  return find_cell(name).make(parent, suffix, options);
}

bool has_recurrent_weights(const std::string& cell) {
  Module root;
  return !make_cell(cell, root, "", pytorch_cell(1, 1))->recurrent_weights().empty();
}

CellUses uses_of(const std::string& cell) { return find_cell(cell).uses; }

std::vector<std::string> cells_that_use(bool CellUses::*setting) {
  std::vector<std::string> names;
  for (const NamedCell& cell : catalogue())
    if (cell.uses.*setting) names.push_back(cell.name);
  return names;
}

std::vector<std::string> cell_names() {
  std::vector<std::string> names;
  for (const NamedCell& cell : catalogue()) names.push_back(cell.name);
  return names;
}

void add_cell(const std::string& name, CellMaker maker, const CellUses& uses) {
  for (const NamedCell& cell : catalogue())
    check(name != cell.name, "[add_cell] '{}' is known already", name);
  catalogue().push_back({name, std::move(maker), uses});
}

}  // namespace rondo
