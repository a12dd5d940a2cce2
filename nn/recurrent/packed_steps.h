// The steps of sequences of different lengths without their padding, as PyTorch's PackedSequence has them:
// the sequences are sorted by length, the longest one first, so that those that have a step t are the first
// rows of step t - 1, and the rows of all steps follow one another. So no step is computed for padding, and
// a cell never sees it. Next: nn/recurrent/recurrent_layer.h.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "autograd/sequence.h"
#include "nn/cells/cell.h"

namespace rondo {

enum class Direction { forward, reverse };

class PackedSteps {
 public:
  /// The sequences are [T, B, ..]; in reverse each sequence is read from its last step to its first. Throws
  /// Throws Error unless lengths are empty (no padding) or B numbers from 0 to T.
  PackedSteps(const Lengths& lengths, int64_t T, int64_t B, Direction direction);

  /// How many rows each step has, of steps that have any; never more than the step before.
  const std::vector<int64_t>& rows() const { return rows_; }
  /// [T, B, W] to [sum of rows(), W], and back, with zeros in the padding.
  LayerInput packed(const LayerInput& input) const;
  Variable padded(const Variable& steps) const;
  /// [B, W], a row for each sequence, in the order of length, and back.
  Variable sorted(const Variable& x) const;
  Variable unsorted(const Variable& x) const;

 private:
  int64_t T_, B_;
  std::vector<int64_t> rows_;
  std::optional<RowMap> order_, steps_;  // none: as they are
};

/// The state of the sequences from step to step, while those that have ended drop out.
class PackedState {
 public:
  /// Begins with that of the batch.
  PackedState(const PackedSteps& steps, const State& initial);
  /// Returns the state of the first `rows` sequences, which have the next step; the others have ended.
  const State& of_first(int64_t rows);
  /// After a step.
  void set(State next) { state_ = std::move(next); }
  /// Returns the states of all sequences after their last steps, in the order of the batch.
  State last() const;

 private:
  const PackedSteps& steps_;
  State state_;               // of those that go on
  std::vector<State> ended_;  // the shortest sequences first
};

}  // namespace rondo
