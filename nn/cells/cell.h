// What a recurrent cell is: input projections, recurrent weights, and a step. The layer
// (nn/recurrent/recurrent_layer.h) does the rest: it computes the projections of all time steps as one
// product before the loop, runs the loop, carries the state. Next: nn/cells/lstm.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "autograd/operators.h"
#include "nn/module.h"

namespace rondo {

/// What a cell carries from step to step: h [B, H], and the cell's memory c [B, H] where it has one.
struct State {
  Variable h, c;
  int64_t steps = 0;    // since it was reset; the layer counts them
  Variable unmasked{};  // h, where the layer has put a variational mask on it for a step

  /// What an update gate keeps: h itself. Recurrent weights and reset gates see `h`, under its mask.
  const Variable& kept() const { return unmasked.defined() ? unmasked : h; }

  /// The same, with f of what is defined.
  template <class F>
  State map(F f) const {
    return {f(h), c.defined() ? f(c) : Variable(), steps, {}};
  }
};

/// Initial values of multiplicative integration: those that Wu et al. 2016 give an LSTM on text8.
struct IntegrationStart {
  double alpha = 1, beta1 = 0.5, beta2 = 0.5, b = 0;
};

/// Sizes and settings that cells share. Initialisers of inputs, recurrences and biases are separate settings.
struct CellOptions {
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  Initializer input_weights = constant_values(0);
  Initializer recurrent_weights = constant_values(0);
  Initializer biases = constant_values(0);
  double forget_bias = 0;         // added to the initial bias of an LSTM's forget gate
  int bias_count = 2;             // vectors per gate: PyTorch has 2, the papers mostly 1, Luchetta's GRU 0
  int64_t intermediate_size = 0;  // M of the multiplicative cells; 0: the input's
  std::vector<int64_t> transition{};  // sizes of the inner layers of a deep transition; empty: one, of H
  IntegrationStart integration{};
  int64_t statistics_steps = 100;  // time steps with batch statistics of their own, in the bn_ cells

  int64_t intermediate() const { return intermediate_size > 0 ? intermediate_size : input_size; }
};

/// The settings of nn.LSTM and its kin: everything U(-1/sqrt(H), 1/sqrt(H)).
CellOptions pytorch_cell(int64_t input_size, int64_t hidden_size);

class Cell;

/// An input projection W x + b of a cell: declared here, computed by the layer for all steps at once.
class Projection {
 public:
  /// `biases` are the vectors that are added once per step whatever the state; `blocks` how many are stacked
  /// in the width, 0: as many as the hidden size goes into it.
  Projection(Cell& cell, const std::string& weight_name, int64_t width, const CellOptions& options,
             std::vector<const Parameter*> biases = {}, int64_t blocks = 0);
  /// Of stacked gates that have these numbers of rows.
  Projection(Cell& cell, const std::string& weight_name, const std::vector<int64_t>& gate_rows,
             const CellOptions& options, std::vector<const Parameter*> biases);
  Projection(const Projection&) = delete;
  Projection& operator=(const Projection&) = delete;

  int64_t index() const { return index_; }
  /// [N, I] to [N, width].
  Variable operator()(const Variable& x) const;

 private:
  int64_t index_;
  Parameter weight_;
  std::vector<const Parameter*> biases_;
};

/// A weight that every step uses. Its value in force is made once per chunk, so that weight drop or a slice
/// acts from outside the step.
class Recurrent {
 public:
  Recurrent(Cell& cell, const std::string& name, Shape shape, Initializer initializer);
  Recurrent(const Recurrent&) = delete;
  Recurrent& operator=(const Recurrent&) = delete;

  /// Throws Error before begin_chunk().
  operator const Variable&() const { return in_force(); }
  /// RowMask [begin, end) of the value in force: one gate of a stacked weight. Its gradient joins the whole
  /// weight's.
  Variable rows(int64_t begin, int64_t end) const { return in_force().slice(begin, end); }
  void begin_chunk() { in_force_ = transform ? transform(weight) : weight.variable(); }

  Parameter weight;
  /// From the trained weight to its value in force; empty: the weight itself.
  std::function<Variable(const Variable&)> transform;

 private:
  const Variable& in_force() const {
    check(in_force_.defined(), "[{}] begin_chunk() of the cell comes before its steps", weight.name());
    return in_force_;
  }

  Variable in_force_;
};

/// The projections of one time step, and which of its rows are no padding.
class StepInputs {
 public:
  explicit StepInputs(std::vector<Variable> projected, RowMask valid = {})
      : projected_(std::move(projected)), taken_(projected_.size()), valid_(std::move(valid)) {}
  /// Null: all rows. The layer gives the others zeros and keeps their state, so that a step needs this only
  /// to look across rows.
  const RowMask& valid() const { return valid_; }
  Variable operator[](const Projection& projection) const;
  /// The last use: gives up the buffer, or columns [begin, end) of it, so that the consumer can work in
  /// place, as add_linear(x.take(z), h, U) does. Blocks are taken from left to right.
  Variable take(const Projection& projection);
  Variable take(const Projection& projection, int64_t begin, int64_t end);

 private:
  std::vector<Variable> projected_;  // each [B, width], without the columns that are taken
  std::vector<int64_t> taken_;       // columns of each
  RowMask valid_;
};

class Cell : public Module {
 public:
  Cell(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Module(parent, "", suffix), options(cell_options) {}

  /// One step of all rows, from the projections of x. Recurrent weights see previous.h; what is carried over
  /// unchanged, as an update gate does, is previous.kept().
  virtual State step(StepInputs& x, const State& previous) = 0;
  /// Zeros, [B, H].
  virtual State initial_state(int64_t batch) const;
  /// Makes the recurrent weights' values in force. Once per chunk, before its steps.
  void begin_chunk();
  /// The projections of x [T, B, I], one product for all steps; T entries. `valid`: rows that are no padding,
  /// of each step, or nothing.
  std::vector<StepInputs> project(const Variable& x, const std::vector<RowMask>& valid = {}) const;

  /// What weight drop acts on: see Recurrent::transform.
  const std::vector<Recurrent*>& recurrent_weights() const { return recurrents_; }

  const CellOptions options;

 protected:
  int64_t hidden() const { return options.hidden_size; }

 private:
  friend class Projection;
  friend class Recurrent;
  std::vector<const Projection*> projections_;
  std::vector<Recurrent*> recurrents_;
};

/// The biases of stacked gates [G H]: bias_ih and bias_hh, bias_ih alone, or none, as the options ask for.
struct GateBiases {
  /// `forget_bias` is added to the second gate's initial bias; leave it 0 where there is no forget gate.
  /// Throws Error if there is one, but no bias.
  GateBiases(Cell& cell, int64_t gates, const CellOptions& options, double forget_bias = 0);
  /// Of gates that have these numbers of rows.
  GateBiases(Cell& cell, const std::vector<int64_t>& gate_rows, const CellOptions& options);
  std::vector<const Parameter*> all() const;

  std::unique_ptr<Parameter> input, recurrent;  // null where there is none

 private:
  GateBiases(Cell& cell, int64_t width, const CellOptions& options, const Initializer& of_input);
};

/// Which settings mean something to a cell.
struct CellUses {
  bool memory = false;            // it has a c: forget_bias, and zoneout of c
  bool intermediate = false;      // intermediate_size
  bool transition = false;        // the layers' sizes
  bool integration = false;       // alpha, beta1, beta2
  bool integration_bias = false;  // b
  bool batch_statistics = false;  // statistics_steps; it looks across the rows of a batch
  bool bias_count = true;         // bias_count; other cells have one bias, whatever it is
};

/// Makes a cell by its recipe name; the parameters' names get the suffix. Throws InputError on an unknown
/// name.
std::unique_ptr<Cell> make_cell(const std::string& name, Module& parent, const std::string& suffix,
                                const CellOptions& options);
/// All names that make_cell knows: Rondo's cells, then those added.
std::vector<std::string> cell_names();
/// What a cell that make_cell knows uses; throws InputError on an unknown name.
CellUses uses_of(const std::string& cell);
/// Whether a cell that make_cell knows has recurrent weights; throws InputError on an unknown name.
bool has_recurrent_weights(const std::string& cell);
/// The cells to which a setting means something.
std::vector<std::string> cells_that_use(bool CellUses::*setting);

using CellMaker = std::function<std::unique_ptr<Cell>(Module& parent, const std::string& suffix,
                                                      const CellOptions& options)>;
/// Makes another program's cell known to make_cell and to recipes; by default it may be given any setting.
/// Throws Error if the name is taken.
void add_cell(const std::string& name, CellMaker maker,
              const CellUses& uses = {true, true, true, true, true, false});
template <class Made>
void add_cell(const std::string& name) {
  add_cell(name, [](Module& parent, const std::string& suffix, const CellOptions& options) {
    return std::make_unique<Made>(parent, suffix, options);
  });
}

}  // namespace rondo
