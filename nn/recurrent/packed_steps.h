// The steps of sequences of different lengths without their padding, as PyTorch's PackedSequence has them:
// the sequences are sorted by length, the longest one first, so that those that have a step t are the first
// rows of step t - 1, and the rows of all steps follow one another. So no step is computed for padding, and
// a cell never sees it. Of staged lengths (autograd/sequence.h), each step has all rows instead, in the order
// of the batch, and what comes of the padding is left out behind. Next: nn/recurrent/recurrent_layer.h.
#pragma once

#include <optional>
#include <vector>

#include "autograd/sequence.h"
#include "nn/cells/cell.h"

namespace rondo {

enum class Direction { forward, reverse };

class PackedSteps {
 public:
  /// The sequences are [T, B, ..]; in reverse each sequence is read from its last step to its first.
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
  /// The row of each sequence's last step among those of all steps; null: sequences drop out where they end.
  const Tokens* last() const { return staged_ ? &staged_->last : nullptr; }

 private:
  int64_t T_, B_;
  std::vector<int64_t> rows_;
  std::shared_ptr<const StagedLengths> staged_;
  std::optional<RowMap> order_, steps_, back_;  // none: as they are
};

/// The state of the sequences from step to step, while those that have ended drop out.
class PackedState {
 public:
  /// Begins with that of the batch.
  PackedState(const PackedSteps& steps, const State& initial);
  /// Returns the state of the first `rows` sequences, which have the next step; the others have ended.
  const State& of_first(int64_t rows);
  /// After a step.
  void set(State next);
  /// After all steps at once, with the states after each [sum of rows, ..].
  void set_all(const State& states);
  /// Returns the states of all sequences after their last steps, in the order of the batch.
  State last() const;

 private:
  const PackedSteps& steps_;
  State state_;               // of those that go on
  std::vector<State> ended_;  // the shortest sequences first
  std::vector<State> all_;    // before the first step and after each, if none drops out
};

}  // namespace rondo
