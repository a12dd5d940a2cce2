// Batches of utterances. Those of similar length are batched together: data/sentences/sentence_batches.h.
// Next: nn/models/ctc_model.h, lm/tasks/speech.h.
#pragma once

#include <cstdint>
#include <vector>

#include "data/sentences/sentence_batches.h"
#include "data/speech/utterances.h"

namespace rondo {

/// T steps of B utterances, each of F numbers: element [t, b] begins at (t * B + b) * F. Padding is 0.
struct UtteranceBatch {
  BatchShare share;                                   // of the whole batch
  std::int64_t steps = 0, utterances = 0, width = 0;  // T, B, F
  std::vector<float> frames;                          // [T, B, F]
  std::vector<std::int64_t> lengths;                  // [B], in steps
  std::vector<std::vector<std::int32_t>> labels;      // of each utterance
  std::vector<std::int64_t> indices;                  // [B]: which utterances these are
  std::int64_t scored = 0;                            // labels of the whole batch
};
/// The steps of some utterances, maybe of none, without labels.
UtteranceBatch batch_of(const std::vector<const Frames*>& utterances, const FrameOptions& options);

/// The utterances of an epoch, each once, in the order of BatchOrder. Holds a view of the utterances, which
/// must outlive it.
class UtteranceBatches {
 public:
  /// Begins with epoch 1. InputErrors of BatchOrder.
  UtteranceBatches(const SentenceBatchOptions& options, const FrameOptions& frames,
                   const Utterances& utterances, std::uint64_t seed);

  /// The next batch; false, and no batch, at the end.
  bool next(UtteranceBatch& batch);

  /// As BatchOrder::seek().
  void seek(std::int64_t epoch, std::int64_t position) { order_.seek(epoch, position); }
  /// As BatchOrder::seek_extreme().
  void seek_extreme(Extreme extreme) { order_.seek_extreme(extreme); }
  /// As BatchOrder::divide().
  void divide(std::int64_t ranks, std::int64_t own) { order_.divide(ranks, own); }
  std::int64_t position() const { return order_.position(); }
  std::int64_t length() const { return order_.length(); }  // batches of this epoch
  std::int64_t utterances() const { return utterances_.size(); }

 private:
  const Utterances& utterances_;
  FrameOptions frames_;
  BatchOrder order_;
};

}  // namespace rondo
