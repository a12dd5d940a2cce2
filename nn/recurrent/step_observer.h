// Looking at recurrent layers at work: each layer tells the observer of its thread when it begins, and the
// state before and after each step, whatever the cell. Operators: autograd/observe.h. Used by
// lm/evaluation/probe.h.
#pragma once

#include "autograd/functions.h"
#include "nn/cells/cell.h"

namespace rondo {

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

/// While it exists, the observer sees the steps of all layers in this thread.
class ObservedSteps {
 public:
  explicit ObservedSteps(StepObserver& observer);
  ~ObservedSteps();
  ObservedSteps(const ObservedSteps&) = delete;
  ObservedSteps& operator=(const ObservedSteps&) = delete;

 private:
  StepObserver* before_;
};
/// That of this thread; null: none.
StepObserver* step_observer();

}  // namespace rondo
