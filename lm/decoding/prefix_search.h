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
#include "tensor/backend.h"
#include "tensor/keys.h"

namespace rondo {

/// log p of each symbol in each frame of one sequence, in host memory: of symbol k in frame t
/// data[t * row_stride + k].
struct FrameLogProbabilities {
  const real* data;
  int64_t frames, symbols, row_stride;
  const real* frame(int64_t t) const { return data + t * row_stride; }
};

struct LabelHypothesis {
  std::vector<int32_t> labels;
  double log_p =
      0;  // of the labels, natural: the sum over the paths that were followed; of best_path() one path
  double score = 0;  // that hypotheses are ranked by: log_p and what a language model adds
};

/// Of equally probable symbols of a frame the first. Error for fewer than one symbol.
LabelHypothesis best_path(const FrameLogProbabilities& frames);

struct PrefixSearchOptions {
  int64_t beam = 64;  // prefixes that are kept after each frame
  int64_t n_best = 1;
};
Keys keys_of(PrefixSearchOptions& options);
/// InputError for options out of range, and for n_best above the beam.
void check_options(const PrefixSearchOptions& options);

/// The n_best labels, best first, equal ones in a fixed order; fewer if there are not so many. Without a
/// scorer the score is log p. Time: frames * beam * symbols. InputErrors of check_options(); Error for
/// probabilities that are not numbers.
std::vector<LabelHypothesis> prefix_search(const FrameLogProbabilities& frames,
                                           const PrefixSearchOptions& options,
                                           const LabelScorer* scorer = nullptr);

}  // namespace rondo
