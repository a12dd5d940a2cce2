// Batches of pairs of sentences. Pairs of similar length are batched together, which saves padding; which of
// these, and in which order, is random in each epoch. Read next: data/ngram/ngram.h, the baseline.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/sentences/pairs.h"
#include "data/sentences/sentence_batches.h"
#include "tensor/keys.h"

namespace rondo {

struct PairBatchOptions {
  SentenceBatchOptions order{.batch = 80};
  bool reverse_source = false;  // Sutskever, Vinyals & Le 2014, section 3.3; the end symbol stays last
};
/// `batch`, `batch_by`, `reverse_source`.
Keys keys_of(PairBatchOptions& options);

/// S and T steps of B sentences; element [t, b] is at t * B + b. Lengths include the end symbol. Padding is
/// id 0, and ignore_index in `targets`.
struct PairBatch {
  static constexpr std::int32_t ignore_index = ShiftedSentences::ignore_index;

  BatchShare share;                                 // of the whole batch
  std::int64_t sentences = 0;                       // B
  std::int64_t source_steps = 0, target_steps = 0;  // S, T
  std::int64_t scored = 0;                          // targets of the whole batch that are not ignore_index
  std::vector<std::int32_t> source;                 // [S, B]
  std::vector<std::int32_t> inputs;   // [T, B]: the end symbol, then the target without its last
  std::vector<std::int32_t> targets;  // [T, B]
  std::vector<std::int64_t> source_lengths, target_lengths;  // [B]
  std::vector<std::int64_t> pairs;                           // [B]: the index of each row's pair
};

/// The pairs of an epoch, each once, in the order of BatchOrder, by the lengths of target and source. The
/// rows of a batch are in the order of their target lengths, the longest first. Holds a view of the pairs,
/// which must outlive it.
class PairBatches {
 public:
  /// Begins with epoch 1. InputError for options outside their limits, and if there are no pairs.
  PairBatches(const PairBatchOptions& options, const Pairs& pairs, std::uint64_t seed);

  /// The next batch; false, and no batch, at the end. With BatchBy::symbols a pair that is longer than the
  /// limit is a batch of its own.
  bool next(PairBatch& batch);

  /// Goes to batch `position` of an epoch. Epoch 0, for evaluation: all pairs sorted by length, the longest
  /// first. Error outside [0, length()].
  void seek(std::int64_t epoch, std::int64_t position) { order_.seek(epoch, position); }
  /// As BatchOrder::seek_extreme().
  void seek_extreme(Extreme extreme) { order_.seek_extreme(extreme); }
  /// As BatchOrder::divide().
  void divide(std::int64_t ranks, std::int64_t own) { order_.divide(ranks, own); }
  std::int64_t position() const { return order_.position(); }
  /// Batches of this epoch. With BatchBy::symbols other epochs may have a few more or fewer.
  std::int64_t length() const { return order_.length(); }
  /// Target symbols of an epoch.
  std::int64_t scored() const { return pairs_.target.symbols(); }

 private:
  PairBatchOptions options_;
  const Pairs& pairs_;
  BatchOrder order_;
};

/// The source half of a batch, for sentences without a translation: row b is sentence b, each with its end
/// symbol. The target half is empty: T = 0.
PairBatch source_batch(std::span<const std::vector<std::int32_t>> sentences, bool reverse);

}  // namespace rondo
