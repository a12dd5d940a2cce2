// What a recurrent cell is: input projections, recurrent weights, and a step. The layer
// (nn/recurrent/recurrent_layer.h) does the rest: it computes the projections of all time steps as one
// product before the loop, runs the loop, carries the state. Next: nn/cells/join.h, nn/cells/lstm.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "nn/cells/cell_settings.h"
#include "nn/module.h"

namespace rondo {

/// What a cell carries from step to step: h [B, H], which is its output; the cell state c [B, H] where it has
/// one; and whatever else Cell::state_tensors() names.
struct State {
  struct Named {
    std::string name;
    Variable value;
  };

  Variable h, c{};
  std::vector<Named> others{};
  int64_t steps = 0;         // since it was reset; the layer counts them
  Variable h_before_mask{};  // h, where the layer has put a variational mask on it for a step

  /// What an update gate keeps: h itself. Recurrent weights and reset gates see `h`, under its mask.
  const Variable& h_unmasked() const { return h_before_mask.defined() ? h_before_mask : h; }
  /// Throws Error if there is none of this name.
  const Variable& other(const std::string& name) const;

  /// The same, with f of what is defined.
  template <class F>
  State map(F f) const {
    State result{f(h), c.defined() ? f(c) : Variable(), others, steps};
    for (Named& it : result.others) it.value = f(it.value);
    return result;
  }
  /// All that is defined, by name.
  std::vector<Named> tensors() const;
};

/// Sizes and settings that cells share. Initialisers of inputs, recurrences and biases are separate settings.
struct CellOptions {
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  Initializer input_weights = constant_values(0);
  Initializer recurrent_weights = constant_values(0);
  Initializer biases = constant_values(0);
  int64_t max_time_steps =
      100;                  // those that have parameters or statistics of their own, where a cell has such
  CellSettings settings{};  // of the cell's family
};

/// The settings of nn.LSTM and its kin: everything U(-1/sqrt(H), 1/sqrt(H)).
CellOptions pytorch_cell(int64_t input_size, int64_t hidden_size);

/// Rows of each gate in weights that are stacked gate by gate.
using GateRows = std::vector<int64_t>;
int64_t sum_of(const GateRows& rows);

class Cell;

/// An input projection W x + b of a cell: declared here, computed by the layer for all steps at once.
class Projection {
 public:
  /// What it is computed from: the layer's input, for all steps at once; or what the step itself makes of the
  /// input (StepInputs::set_input).
  enum class Reads { input, step };

  /// `biases` are the vectors that are added once per step whatever the state. Over a `window` of several
  /// steps it is the sum of W_j x_(t - j), each W_j a weight of its own, the present one's being
  /// `weight_name` and the others' with _1, _2, ... behind it.
  Projection(Cell& cell, const std::string& weight_name, const GateRows& rows,
             std::vector<const Parameter*> biases = {}, Reads reads = Reads::input, int64_t window = 1);
  Projection(const Projection&) = delete;
  Projection& operator=(const Projection&) = delete;

  int64_t index() const { return index_; }
  Reads reads() const { return reads_; }
  Shape weight_shape() const { return weight_.shape(); }
  /// [.., I] to [.., rows]; `earlier[j - 1]` is x of j steps before.
  Variable operator()(const Variable& x, const std::vector<Variable>& earlier = {}) const;

 private:
  int64_t index_;
  Reads reads_;
  Parameter weight_;
  std::vector<std::unique_ptr<Parameter>> earlier_weights_;
  std::vector<const Parameter*> biases_;
};

/// A weight that every step uses. Its effective value is made once per chunk, so that weight drop or a slice
/// acts from outside the step.
class Recurrent {
 public:
  /// Of stacked gates, [sum of rows, columns].
  Recurrent(Cell& cell, const std::string& name, const GateRows& rows, int64_t columns);
  /// A vector, for what acts unit by unit.
  Recurrent(Cell& cell, const std::string& name, int64_t size, Initializer initializer);
  Recurrent(const Recurrent&) = delete;
  Recurrent& operator=(const Recurrent&) = delete;

  /// Throws Error before begin_chunk().
  operator const Variable&() const { return effective(); }
  /// Rows [begin, end) of the effective value: one gate of a stacked weight. Its gradient joins the whole
  /// weight's.
  Variable rows(int64_t begin, int64_t end) const;
  void begin_chunk() { effective_ = transform ? transform(weight) : weight.variable(); }

  Parameter weight;
  /// From the trained weight to its effective value; empty: the weight itself.
  std::function<Variable(const Variable&)> transform;

 private:
  const Variable& effective() const {
    check(effective_.defined(), "[{}] begin_chunk() of the cell comes before its steps", weight.name());
    return effective_;
  }

  Variable effective_;
};

/// What a step reads: the projections of its input and, where a cell asks for it, the input itself.
class StepInputs {
 public:
  /// Of step t of a chunk, x being [T, B, I], which is step number `step` since the state was reset.
  StepInputs(std::vector<Variable> projected, Variable all_inputs, int64_t t, int64_t step, RowMask valid)
      : projected_(std::move(projected)),
        taken_(projected_.size()),
        all_inputs_(std::move(all_inputs)),
        t_(t),
        step_(step),
        valid_(std::move(valid)) {}

  /// x of this step, [B, I], or what set_input() has made of it.
  Variable input() const { return input_.defined() ? input_ : all_inputs_[t_]; }
  /// Replaces x for the projections that read the step's own (Projection::Reads::step).
  void set_input(Variable x) { input_ = std::move(x); }

  Variable operator[](const Projection& projection);
  /// The last use: gives up the buffer, or columns [begin, end) of it, so that the consumer can work in
  /// place, as add_linear(x.take(z), h, U) does. Blocks are taken from left to right.
  Variable take(const Projection& projection);
  Variable take(const Projection& projection, int64_t begin, int64_t end);

  /// Which rows are no padding; null: all rows. The layer gives the others zeros and keeps their state, so
  /// that a step needs this only to look across rows.
  const RowMask& valid() const { return valid_; }
  /// How many steps there were since the state was reset.
  int64_t step() const { return step_; }

 private:
  std::vector<Variable> projected_;  // each [B, width], without the columns that are taken
  std::vector<int64_t> taken_;       // columns of each
  Variable all_inputs_;              // [T, B, I]
  int64_t t_, step_;
  Variable input_;
  RowMask valid_;
};

/// A part of a cell's state: its name and width.
struct StateTensor {
  std::string name;
  int64_t width;
};

class Cell : public Module {
 public:
  Cell(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Module(parent, "", suffix), options(cell_options) {}

  /// One step of all rows. Recurrent weights see previous.h; what is carried over unchanged, as an update
  /// gate does, is previous.h_unmasked().
  virtual State step(StepInputs& x, const State& previous) = 0;
  /// What the state consists of, "h" first, "c" second where there is one.
  virtual std::vector<StateTensor> state_tensors() const { return {{"h", hidden()}}; }
  /// Steps of the input that its projections read; the earlier ones lie in the state's "x", [B, (n - 1) I],
  /// most recent step first.
  virtual int64_t window() const { return 1; }
  /// Whether a step looks across the rows of a batch, as one with statistics of the batch does.
  virtual bool looks_across_rows() const { return false; }
  /// Whether a step reads previous.h: if not, recurrent dropout has no effect.
  virtual bool reads_h() const { return true; }

  bool has_cell_state() const;
  /// Zeros.
  State initial_state(int64_t batch) const;
  /// Makes the recurrent weights' effective values. Once per chunk, before its steps.
  void begin_chunk();
  /// The projections of x [T, B, I], one product for all steps; T entries. `state` is that before the first
  /// step; `valid`: rows that are no padding, of each step, or nothing.
  std::vector<StepInputs> project(const Variable& x, const State& state = {},
                                  const std::vector<RowMask>& valid = {}) const;

  /// What weight drop acts on: see Recurrent::transform.
  const std::vector<Recurrent*>& recurrent_weights() const { return recurrents_; }
  /// About how many numbers a row of a step leaves for the backward pass, besides its state.
  int64_t kept_for_backward() const { return kept_for_backward_; }
  /// Numbers of a row that project() computes before the steps, and what it copies for that.
  int64_t projected_width() const;
  /// Numbers of all weights that each step multiplies by.
  int64_t step_weights() const;
  /// For the parts of a cell: a step keeps so many numbers more. Projections count themselves.
  void keeps_for_backward(int64_t numbers) { kept_for_backward_ += numbers; }

  const CellOptions options;
  int64_t hidden() const { return options.hidden_size; }
  template <class Settings>
  const Settings& settings() const {
    return options.settings.get<Settings>();
  }

 private:
  friend class Projection;
  friend class Recurrent;
  std::vector<const Projection*> projections_;
  std::vector<Recurrent*> recurrents_;
  int64_t kept_for_backward_ = 0;
};

}  // namespace rondo
