// The loss of connectionist temporal classification (CTC): of labels whose places in a longer sequence of
// frames are unknown, as in speech. Graves, Fernandez, Gomez & Schmidhuber 2006. Next: tensor/kernels/ctc.h,
// which computes it; decoding: lm/decoding/prefix_search.h.
//
// In each frame a softmax y_t over the labels and a blank says what is there. A path is one symbol a frame;
// it stands for the labels that are left when repeated symbols are merged and then blanks removed. The
// probability of labels is the sum over all paths that stand for them, (3), by the forward-backward
// algorithm, (6) to (11). The loss is its negative logarithm, (12), with the gradient y_t minus the
// posterior of each symbol in frame t, (16).
#pragma once

#include <vector>

#include "autograd/sequence.h"

namespace rondo {

/// The blank is symbol 0, as in PyTorch: labels that are added later do not move it.
constexpr int32_t ctc_blank = 0;

/// Whether there is a path for these labels: each takes a frame, and a repeated label a second
/// one, for the blank between the two.
bool fits_into(const std::vector<int32_t>& labels, int64_t frames);

/// The labels of a batch of sequences, prepared for the kernels.
class CtcTargets {
 public:
  /// labels[b] of sequence b, which has frames[b] frames. Throws Error for a label below 1 or a negative
  /// number of frames.
  CtcTargets(const std::vector<std::vector<int32_t>>& labels, const Lengths& frames);

  int64_t sequences() const { return std::ssize(counts->values()); }
  /// The sequences that ctc_loss() skips, because their labels do not fit into their frames; and whether
  /// it skips sequence b.
  int64_t skipped() const { return skipped_; }
  bool skips(int64_t b) const { return skips_[static_cast<size_t>(b)]; }

  Tokens frames, counts;    // [B]: of frames and of labels; 0 for a skipped sequence
  Tokens labels, order;     // [B, most]: labels, and their positions sorted by label
  std::vector<real> skip;   // [B, room + 1] of CtcForwardBackward
  int64_t most = 0;         // the most labels of a sequence
  int64_t most_frames = 0;  // skipped sequences included
  int32_t largest_label = 0;

 private:
  int64_t skipped_ = 0;
  std::vector<bool> skips_;
};

/// The loss of each sequence in nats, [B], of scores [T, B, V] before the softmax. What lies behind the
/// frames of a sequence has no effect, even NaN. A sequence whose labels do not fit into its frames would
/// have an infinite loss: it is skipped, with loss 0 and no gradient, and counted by targets.skipped(). (A
/// loss that is infinite because of scores of minus infinity is reported as infinite; it has no gradient.)
/// Memory: T * B * 2 L numbers for at most L labels. Throws Error if shapes do not fit, for a label of V or
/// more, and for a sequence of more than T frames.
Variable ctc_loss(const Variable& scores, const CtcTargets& targets);

}  // namespace rondo
