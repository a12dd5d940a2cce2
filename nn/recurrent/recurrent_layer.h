// One cell over time, in either direction: the projections of all steps as one product, the loop, padding,
// and the regularization that applies to any cell. The equations are in nn/cells/. Next:
// nn/recurrent/recurrent_stack.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autograd/observe.h"
#include "autograd/sequence.h"
#include "nn/cells/catalogue.h"
#include "nn/layers/dropout.h"
#include "nn/recurrent/packed_steps.h"

namespace rondo {

/// Regularization of any cell, while training.
struct RecurrentRegularization {
  /// Dropout of h before the recurrent weights read it, with one mask for all steps of a chunk. An update
  /// gate keeps the unmasked h. Gal & Ghahramani 2016.
  double dropout = 0;
  /// Probability that a unit of h, or of c, keeps its value for a step; evaluation uses the expectation.
  /// Krueger et al. 2017.
  double zoneout = 0, zoneout_memory = 0;
  /// Dropout of the elements of each recurrent weight, with one mask for all steps of a chunk and all rows.
  /// Merity et al. 2018.
  double weight_drop = 0;
};
Keys keys_of(RecurrentRegularization& it);
/// Throws InputError, naming the key of section [model], for regularization that the cell cannot have.
void check_regularization(const std::string& cell, const RecurrentRegularization& regularization);

/// Looks at recurrent layers at work: each layer tells the observer of its thread (Observing<StepObserver>)
/// when it begins, and the state before and after each step, whatever the cell.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  /// The next steps of this cell are those of new sequences. The projections of all steps come first, with
  /// `rows` rows of each; if there are none, those of each step come just before it.
  virtual void begins(const Cell& cell, const std::vector<int64_t>& rows) = 0;
  /// Before and after a step, of the sequences that have it. What they return takes the state's place, and
  /// must have its values.
  virtual State before_step(const Cell& cell, State state) = 0;
  virtual State after_step(const Cell& cell, State state) = 0;
};

class RecurrentLayer : public Module {
 public:
  /// `cell` is a name that make_cell knows; the suffix is appended to the names of its parameters.
  RecurrentLayer(Module& parent, const std::string& cell, const std::string& suffix,
                 const CellOptions& options, const RecurrentRegularization& regularization = {},
                 Direction direction = Direction::forward);

  struct Result {
    Variable output;  // [T, B, H], or [B, H] of one step; zeros in the padding
    State state;      // after the last step of each row; without padding its h is a view of all steps' memory
  };
  /// x [T, B, I], T > 0. The contents of its padding, even NaN, have no effect. In reverse, each row is read
  /// from its last step before the padding to its first, and the output is in the order of x.
  Result operator()(const LayerInput& input, const State& initial, const Lengths& lengths = {});

  /// The same, one step at a time. begin() computes what all steps of a chunk share: the effective weights
  /// and the mask of the state; `rows` are those of each step, for an observer. step() reads x [B, I];
  /// `lengths` are 0 for rows that are padding, else 1. Zoneout is drawn by each step(). Not in reverse.
  /// After a whole sequence or an update of the weights, call begin() again. step() throws Error before
  /// begin().
  void begin(int64_t batch, const std::vector<int64_t>& rows = {});
  Result step(const Variable& x, const State& state, const Lengths& lengths = {});

  Cell& cell() const { return *cell_; }

 private:
  void check_state(const State& state, int64_t batch);
  /// Whether the cell computes all steps at once: nothing may come between them.
  bool at_once(const PackedSteps& steps) const;
  /// The steps of x [T, B, I].
  Result run(const LayerInput& input, const PackedSteps& steps, const State& initial);
  /// Throws Error unless a step has returned the same tensors of the state as it was given.
  void check_same_parts(const State& next, const State& state) const;
  State next_state(StepInputs& inputs, const State& given, const Variable& mask, const PackedSteps& steps);
  Variable zoned_out(const Variable& next, const Variable& old, Dropout& zoneout, const PackedSteps& steps,
                     const Tensor& out = {}) const;

  std::string label_;  // of the cell, for errors
  std::unique_ptr<Cell> cell_;
  Direction direction_;
  Dropout dropout_, zoneout_, zoneout_memory_;
  WeightDrop weight_drop_;
  int64_t begun_ = 0;  // the batch size of begin(); 0: it was not called
  Variable mask_;      // of the state, after begin(); undefined: none
};

}  // namespace rondo
