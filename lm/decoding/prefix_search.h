// Label sequences from the frames of a CTC model (autograd/ctc_loss.h), whose symbol 0 is the blank.
//
// best_path(): the most probable symbol of each frame, repeats merged and blanks removed (Graves et al.
// 2006, section 3.2). prefix_search(): the most probable labels, approximately, as the sum over their paths:
// Hannun, Maas, Jurafsky & Ng 2014, "First-pass large vocabulary continuous speech recognition using
// bi-directional recurrent DNNs", algorithm 1, in logarithms. It keeps the best prefixes of labels, each with
// the probability of the paths that end in a blank and of those that end in its last label: only after a
// blank does the same label begin again. A language model adds to a prefix's score, not to its
// probability, so that the two can be told apart. Next: lm/decoding/label_scorer.h.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/decoding/label_scorer.h"
#include "tensor/tensor.h"

namespace rondo {

struct LabelHypothesis {
  std::vector<int32_t> labels;
  /// The natural logarithm: of the sum over the paths that were followed; of best_path() of one path.
  double log_p = 0;
  double score = 0;  // that hypotheses are ranked by: log_p and what a language model adds
};

/// Returns the labels of the most probable symbol of each frame of log_p [frames, symbols], on the host; of
/// equal ones it takes the first. Throws Error, as prefix_search() does, for probabilities that are not
/// numbers, or on another device, and for no symbols.
LabelHypothesis best_path(const Tensor& log_p);

/// The labels that are left, best first, equal ones in a fixed order: at most `beam`, as after each frame.
/// Without a scorer the score is log p. Time: frames * beam * symbols. Error for a beam below 1.
std::vector<LabelHypothesis> prefix_search(const Tensor& log_p, int64_t beam,
                                           const LabelScorer* scorer = nullptr);

}  // namespace rondo
