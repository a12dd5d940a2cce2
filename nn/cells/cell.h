// The base of all recurrent cells: input projections, recurrent weights, and a step. The layer
// (nn/recurrent/recurrent_layer.h) does the rest: it computes the projections of all time steps as one
// product before the loop, runs the loop, carries the state. Next: nn/cells/join.h, nn/cells/lstm.h.
#pragma once

#include <any>
#include <concepts>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <typeindex>
#include <utility>
#include <vector>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "autograd/pointwise.h"
#include "nn/module.h"
#include "tensor/keys.h"

namespace rondo {

// --- Settings ---
// The settings of cells: each family has a plain struct of its own beside its equations, with a table of keys
// (tensor/keys.h). CellSettings holds one struct of each type without depending on any of them.

/// One struct of each kind; a kind that was never set has its struct's defaults.
class CellSettings {
 public:
  template <class Settings>
  const Settings& get() const {
    static const Settings defaults;
    for (const auto& [type, value] : all_)
      if (type == typeid(Settings)) return std::any_cast<const Settings&>(value);
    return defaults;
  }
  /// For assignment: settings.of<ForgetGateSettings>().forget_bias = 1.
  template <class Settings>
  Settings& of() {
    for (auto& [type, value] : all_)
      if (type == typeid(Settings)) return std::any_cast<Settings&>(value);
    return std::any_cast<Settings&>(all_.emplace_back(typeid(Settings), Settings()).second);
  }

 private:
  std::deque<std::pair<std::type_index, std::any>> all_;  // a deque: keys hold addresses of the members
};

/// A kind of settings, accessed through its keys only.
struct SettingsKind {
  std::type_index type;
  Keys (*keys)(CellSettings&);
};

/// What a cell declares as `using Settings = SettingsOf<...>`, and the settings of several parts of a cell
/// together.
template <class... Settings>
using SettingsOf = std::tuple<Settings...>;
template <class... Parts>
using SettingsOfParts = decltype(std::tuple_cat(std::declval<typename Parts::Settings>()...));

/// The kinds of settings of a cell; empty if it declares none.
template <class Cell>
std::vector<SettingsKind> kinds_of() {
  if constexpr (requires { typename Cell::Settings; })
    return []<class... Settings>(const std::tuple<Settings...>*) {
      return std::vector<SettingsKind>{
          {typeid(Settings), [](CellSettings& settings) { return keys_of(settings.of<Settings>()); }}...};
    }(static_cast<const typename Cell::Settings*>(nullptr));
  else
    return {};
}

// --- State and step ---

/// What a cell carries from step to step: h [B, H], which is its output; the cell state c [B, H] if it has
/// one; and any other tensors that Cell::state_tensors() names.
struct State {
  struct Named {
    std::string name;
    Variable value;
  };

  Variable h, c{};
  std::vector<Named> others{};
  int64_t steps = 0;         // since it was reset; the layer counts them
  Variable h_before_mask{};  // the unmasked h, if the layer has applied a variational mask to h for a step

  /// The unmasked h, which an update gate keeps. Recurrent weights and reset gates read the masked `h`.
  const Variable& h_unmasked() const { return h_before_mask.defined() ? h_before_mask : h; }
  /// Throws Error if no tensor has this name.
  const Variable& other(const std::string& name) const;

  /// The state with f applied to each defined tensor.
  template <class F>
  State map(F f) const {
    State result{f(h), c.defined() ? f(c) : Variable(), others, steps};
    for (Named& it : result.others) it.value = f(it.value);
    return result;
  }
  /// All defined tensors, with their names.
  std::vector<Named> tensors() const;
};

/// The states with f applied to each defined tensor.
template <class F>
std::vector<State> mapped(const std::vector<State>& states, F f) {
  std::vector<State> result;
  for (const State& state : states) result.push_back(state.map(f));
  return result;
}
/// The states without their history, which cuts back-propagation through time.
inline std::vector<State> detached(const std::vector<State>& states) {
  return mapped(states, [](const Variable& x) { return x.detached(); });
}

/// Sizes and settings that cells share. Initialisers of inputs, recurrences and biases are separate settings.
struct CellOptions {
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  Initializer input_weights = constant_values(0);
  Initializer recurrent_weights = constant_values(0);
  Initializer biases = constant_values(0);
  int64_t max_time_steps = 100;  // time steps with statistics of their own, if the cell has such statistics
  CellSettings settings{};       // of the cell's family
  bool trained_initial_state = false;  // instead of zeros: Cell::train_initial_state()
};

/// The initial values of PyTorch's nn.LSTM, nn.GRU and nn.RNN: everything U(-1/sqrt(H), 1/sqrt(H)).
CellOptions pytorch_cell(int64_t input_size, int64_t hidden_size);

/// Rows of each gate in weights that are stacked gate by gate.
using GateRows = std::vector<int64_t>;
int64_t sum_of(const GateRows& rows);

/// What a layer reads: x [.., I]. Where x consists of rows of a small table, as embeddings of characters do,
/// the table and the numbers of the rows as well: projections then multiply the table in place of x, and a
/// NaN in any row of it, also in one that x does not have, is in the gradient of their weight.
struct LayerInput {
  /// From a Variable, a Tensor or a Parameter, without a table.
  template <std::convertible_to<Variable> Values>
  LayerInput(const Values& values) : x(values) {}
  /// x consists of rows `ids` of `table`, which is kept only where that is faster: on a CPU, if it is at most
  /// half as high. (On a GPU products are fast, and the gradients of a frequent symbol would be added one
  /// after another.)
  LayerInput(Variable values, const Variable& whole_table, const Tokens& rows) : x(std::move(values)) {
    if (is_gpu(x.value().device()) || 2 * whole_table.value().rows() > std::ssize(*rows)) return;
    table = whole_table;
    ids = rows;
  }

  Variable x, table{};  // the table is undefined if it is not known, or not small
  Tokens ids{};
};

class Cell;

/// An input projection W x + b of a cell: declared here, computed by the layer for all steps at once.
class Projection {
 public:
  /// What it is computed from: the layer's input, for all steps at once; or an input that the step itself
  /// computes (StepInputs::set_input).
  enum class Reads { input, step };

  /// `biases` are vectors that are added in each step, independent of the state. With a `window` of several
  /// steps it is the sum over j of W_j x_(t - j), each W_j a separate weight: W_0 is named `weight_name`, the
  /// others have _1, _2, ... appended.
  Projection(Cell& cell, const std::string& weight_name, const GateRows& rows,
             std::vector<const Parameter*> biases = {}, Reads reads = Reads::input, int64_t window = 1);
  Projection(const Projection&) = delete;
  Projection& operator=(const Projection&) = delete;

  int64_t index() const { return index_; }
  Reads reads() const { return reads_; }
  /// [.., I] to [.., rows]; `earlier[j - 1]` is x from j steps before.
  Variable operator()(const LayerInput& input, const std::vector<Variable>& earlier = {}) const;

 private:
  int64_t index_;
  Reads reads_;
  Parameter weight_;
  std::vector<std::unique_ptr<Parameter>> earlier_weights_;
  std::vector<const Parameter*> biases_;
};

/// A weight that every step uses. Its effective value is computed once per chunk, so that weight drop is
/// applied outside the step.
class Recurrent {
 public:
  /// A matrix of stacked gates, [sum of rows, columns].
  Recurrent(Cell& cell, const std::string& name, const GateRows& rows, int64_t columns);
  /// A vector, for weights that act unit by unit.
  Recurrent(Cell& cell, const std::string& name, int64_t size, Initializer initializer);
  Recurrent(const Recurrent&) = delete;
  Recurrent& operator=(const Recurrent&) = delete;

  /// Throws Error before begin_chunk().
  operator const Variable&() const { return effective(); }
  /// Rows [begin, end) of the effective value: one gate of a stacked weight. Its gradient is added to the
  /// whole weight's.
  Variable rows(int64_t begin, int64_t end) const;
  void begin_chunk() { effective_ = transform ? transform(weight) : weight.variable(); }

  Parameter weight;
  /// Maps the trained weight to its effective value; empty: the weight itself.
  std::function<Variable(const Variable&)> transform;

 private:
  const Variable& effective() const {
    check(effective_.defined(), "[{}] begin_chunk() of the cell comes before its steps", weight.name());
    return effective_;
  }

  Variable effective_;
};

/// What a step reads: the projections of its input and, if a cell asks for it, the input itself.
class StepInputs {
 public:
  /// For one step, whose x is [B, I]; `step` counts the steps since the state was reset. With the number of
  /// rows of several steps, for all of them at once: B is then the sum.
  StepInputs(std::vector<Variable> projected, Variable input, int64_t step, StepRows rows = {})
      : projected_(std::move(projected)),
        taken_(projected_.size()),
        input_(std::move(input)),
        step_(step),
        rows_(std::move(rows)) {}

  /// x of this step, [B, I], or what set_input() has replaced it with.
  const Variable& input() const { return input_; }
  /// Replaces x for the projections that read the step's own input (Projection::Reads::step).
  void set_input(Variable x) { input_ = std::move(x); }

  Variable operator[](const Projection& projection);
  /// For the last use of a projection: releases its buffer, or columns [begin, end) of it, so that the
  /// consumer can work in place, as add_linear(x.take(z), h, U) does. Column blocks are taken from left to
  /// right.
  Variable take(const Projection& projection);
  Variable take(const Projection& projection, int64_t begin, int64_t end);

  /// The number of steps since the state was reset.
  int64_t step() const { return step_; }

  /// The outputs of a pointwise operator whose last one is the state that it reads in the next step: of this
  /// step, or of all of them, from the state before the first one.
  template <class Op, class... V>
  std::vector<Variable> scan(const Op& op, const V&... inputs) const {
    return scan_into(out, rows_, op, inputs...);
  }

  /// Where the step may compute the next h, [B, H], so that the layer need not copy it: the destination of
  /// the operator that gives h, as pointwise_into(x.out, ...). Undefined: anywhere.
  Tensor out{};

 private:
  std::vector<Variable> projected_;  // each [B, width], without the columns already taken
  std::vector<int64_t> taken_;       // number of columns taken from each
  Variable input_;
  int64_t step_;
  StepRows rows_;  // of all steps; empty: one step
};

/// A part of a cell's state: its name and width, and whether it may begin with trained values, because a step
/// reads it.
struct StateTensor {
  std::string name;
  int64_t width;
  bool trainable = true;
};

class Cell : public Module {
 public:
  Cell(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Module(parent, "", suffix), options(cell_options) {}

  /// One step for all rows, none of which is padding. Recurrent weights read previous.h; a value that is
  /// carried over unchanged, as by an update gate, is previous.h_unmasked().
  virtual State step(StepInputs& x, const State& previous) = 0;
  /// The tensors of the state: "h" first, then "c" if the cell has one, then others.
  virtual std::vector<StateTensor> state_tensors() const { return {{"h", hidden()}}; }
  /// The number n of input steps that its projections read; the n - 1 earlier ones are in the state's tensor
  /// "x", [B, (n - 1) I], most recent step first.
  virtual int64_t window() const { return 1; }
  /// Whether the result of a row depends on the other rows of the batch, as with batch statistics.
  virtual bool looks_across_rows() const { return false; }
  /// Whether h is a state, which a step reads, and not its output alone.
  bool carries_h() const { return state_tensors().front().trainable; }
  /// Whether gates read previous.h: if not, recurrent dropout has no effect.
  virtual bool reads_h() const { return !scans(); }
  /// Whether step() can be given all steps of a sequence at once, because nothing of it reads the state but
  /// StepInputs::scan(): with x of all of them [sum of rows, ..], and the state before the first one. (Where
  /// the cell has a window, "x" has the inputs before each step.) It then returns the states after each.
  virtual bool scans() const { return false; }
  bool has_cell_state() const;
  /// Makes the initial state a set of trained vectors, one for each tensor of the state, which all rows begin
  /// with: parameters h0, c0, ..., at first 0. Those that are not trainable remain 0.
  /// At most once, after the cell has been made: recurrent layers do it.
  void train_initial_state();
  /// Zeros, or the trained vectors in each row.
  State initial_state(int64_t batch) const;
  /// Computes the effective values of the recurrent weights. Call it once per chunk, before its steps.
  void begin_chunk();
  /// The projections of x [T, B, I], one product for all steps; T entries. `state` is the state before the
  /// first step.
  std::vector<StepInputs> project(const Variable& x, const State& state = {}) const;
  /// The same where steps have different numbers of rows, none more than the step before: x [sum of rows, I].
  std::vector<StepInputs> project(const LayerInput& input, const StepRows& rows,
                                  const State& state = {}) const;
  /// All steps at once, for a cell that scans(). Replaces "x" of the state by the inputs before each step.
  StepInputs project_at_once(const LayerInput& input, const StepRows& rows, State& state) const;

  /// The weights that weight drop acts on: see Recurrent::transform.
  const std::vector<Recurrent*>& recurrent_weights() const { return recurrents_; }

  const CellOptions options;
  int64_t hidden() const { return options.hidden_size; }
  template <class Settings>
  const Settings& settings() const {
    return options.settings.get<Settings>();
  }

 private:
  friend class Projection;
  friend class Recurrent;
  /// The value of each projection for all steps; undefined of those that read the step's own input.
  std::vector<Variable> projected(const LayerInput& input, const std::vector<Variable>& earlier) const;
  std::vector<const Projection*> projections_;
  std::vector<Recurrent*> recurrents_;
  std::vector<std::unique_ptr<Parameter>> initial_;  // of each of state_tensors(); empty, or null: zeros
};

/// Whether one of them does: such a model must be told which rows are padding.
bool look_across_rows(const std::vector<Cell*>& cells);

}  // namespace rondo
