// One cell along time, in either direction: the projections of all steps as one product, the loop, padding,
// and the noise that acts on any cell from outside. It deliberately knows no cell's equations
// (nn/cells/) and no other layer. Next: nn/recurrent/recurrent_stack.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autograd/sequence.h"
#include "nn/cells/catalogue.h"
#include "nn/layers/dropout.h"

namespace rondo {

/// What acts on a cell from outside while training.
struct RecurrentRegularization {
  /// Share of h that is dropped before recurrent weights see it: one mask for all steps of a chunk. An update
  /// gate keeps h itself. Gal & Ghahramani 2016.
  double dropout = 0;
  /// Probability that a unit of h, of c, keeps its value for a step; in evaluation its expectation. Krueger
  /// et al. 2017.
  double zoneout = 0, zoneout_memory = 0;
  /// Share of the elements of each recurrent weight that is dropped: one mask for all steps of a chunk and
  /// all rows. Merity et al. 2018.
  double weight_drop = 0;
};
Keys keys_of(RecurrentRegularization& it);

enum class Direction { forward, reverse };

class RecurrentLayer : public Module {
 public:
  /// `cell` is a name that make_cell knows; the suffix is that of its parameters.
  RecurrentLayer(Module& parent, const std::string& cell, const std::string& suffix,
                 const CellOptions& options, const RecurrentRegularization& noise = {},
                 Direction direction = Direction::forward);

  struct Result {
    Variable output;  // [T, B, H], of one step [B, H]; zeros in the padding
    State state;      // after the last step of each row; its h is a part of all steps' memory
  };
  /// x [T, B, I], T > 0. What it holds in the padding, NaN too, changes nothing. In reverse each row is read
  /// from its last step that is no padding to its first, and the output lies in the order of x.
  Result operator()(const Variable& x, const State& initial, const Lengths& lengths = {});

  /// The same a step at a time, from outside: begin() makes what serves all steps of a chunk, the effective
  /// weights and the mask of the state; step() reads x [B, I], where `valid` tells the rows that are no
  /// padding. What is drawn anew at each step of a sequence (zoneout) is drawn by each step(). Not in
  /// reverse. A whole sequence in between, or an update of the weights, needs another begin(). Throws Error
  /// before begin().
  void begin(int64_t batch);
  Result step(const Variable& x, const State& state, const RowMask& valid = {});

  Cell& cell() const { return *cell_; }

 private:
  void check_state(const State& state, int64_t batch);
  /// Whether a step has returned the parts that it was given.
  void check_same_parts(const State& next, const State& state) const;
  State next_state(StepInputs& inputs, const State& state);
  Variable zoned_out(const Variable& next, const Variable& old, Dropout& zoneout) const;

  std::string label_;  // of the cell, for errors
  std::unique_ptr<Cell> cell_;
  Direction direction_;
  Dropout dropout_, zoneout_, zoneout_memory_;
  WeightDrop weight_drop_;
  int64_t begun_ = 0;  // rows that begin() was called for; 0: it was not
  Variable mask_;      // of the state, while there are steps; undefined: none
};

}  // namespace rondo
