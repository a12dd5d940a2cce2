// Batches of labelled sentences. Sentences of similar length are batched together:
// data/sentences/sentence_batches.h. Read next: data/ngram/ngram.h, the baseline.
#pragma once

#include <cstdint>
#include <vector>

#include "data/sentences/labelled_sentences.h"
#include "data/sentences/sentence_batches.h"

namespace rondo {

struct LabelledBatch {
  BatchShare share;                  // of the whole batch
  PaddedSentences sentences;         // T steps of B sentences
  std::vector<std::int32_t> labels;  // [B]
};

/// The sentences of an epoch, each once, in the order of BatchOrder. Holds a view of the sentences, which
/// must outlive it.
class LabelledBatches {
 public:
  /// Begins with epoch 1. InputErrors of BatchOrder.
  LabelledBatches(const SentenceBatchOptions& options, const LabelledSentences& sentences,
                  std::uint64_t seed);

  /// The next batch; false, and no batch, at the end.
  bool next(LabelledBatch& batch);

  /// As BatchOrder::seek().
  void seek(std::int64_t epoch, std::int64_t position) { order_.seek(epoch, position); }
  /// As BatchOrder::seek_extreme().
  void seek_extreme(Extreme extreme) { order_.seek_extreme(extreme); }
  /// As BatchOrder::divide().
  void divide(std::int64_t ranks, std::int64_t own) { order_.divide(ranks, own); }
  std::int64_t position() const { return order_.position(); }
  std::int64_t length() const { return order_.length(); }  // batches of this epoch
  std::int64_t sentences() const { return sentences_.size(); }

 private:
  const LabelledSentences& sentences_;
  BatchOrder order_;
};

}  // namespace rondo
