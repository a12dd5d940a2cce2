// Pairs of sentences as ids, a line of the source and its translation, each with the end symbol (`<eos>`, or
// the newline, of its vocabulary); and their batches. Read next: nn/models/encoder_decoder.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/sentences/parallel_text.h"
#include "data/sentences/sentence_batches.h"

namespace rondo {

struct Pairs {
  Sentences source, target;   // of the same size
  std::int64_t left_out = 0;  // pairs of the text that are too long
  std::int64_t empty = 0;     // pairs that are left out since a side is empty

  std::int64_t size() const { return source.size(); }
  std::int64_t scored() const { return target.symbols(); }
  BatchOrder::Lengths lengths(std::int64_t i) const { return {target.length(i), source.length(i)}; }
};

struct PairOptions {
  bool shared_vocabulary = false;  // one for both languages
  std::int64_t max_length = 0;     // in training only; the end symbol does not count; 0: no limit
};
Keys keys_of(PairOptions& options);

struct PairVocabularies {
  Vocabulary source, target;
};
/// Makes the vocabularies of the two training texts; if shared, of both together: then the two are equal, and
/// the limits count the symbols of both. InputErrors of Vocabulary.
PairVocabularies vocabularies_of(const TextPair& train, Tokenization tokenization,
                                 const VocabularyLimits& limits, bool shared);

/// Encodes pairs of which no side has more than `max_length` symbols, not counting its end; 0: no limit.
/// Pairs with an empty side, from which no translation can be learnt, are left out of a text with gaps, and
/// of any text if `without_empty`. InputErrors of encode_sentences(), and if no pair is left.
Pairs encode_pairs(const TextPair& texts, const Vocabulary& source, const Vocabulary& target,
                   std::int64_t max_length = 0, bool without_empty = false);

// --- Batches ---

struct PairBatchOptions {
  SentenceBatchOptions order{.batch = 80};
  bool reverse_source = false;  // Sutskever, Vinyals & Le 2014, section 3.3; the end symbol stays last
};
/// `batch`, `batch_by`, `reverse_source`.
Keys keys_of(PairBatchOptions& options);

/// B pairs.
struct PairBatch {
  BatchShare share;  // of the whole batch
  PaddedSentences source;
  ShiftedSentences target;
  std::int64_t scored = 0;          // symbols of the target, of the whole batch
  std::vector<std::int64_t> pairs;  // [B]: the index of each row's pair
};

/// In the order of BatchOrder, by the lengths of target and source: the rows of a batch are in the order of
/// their target lengths, the longest first. With BatchBy::symbols a pair that is longer than the limit is a
/// batch of its own, and other epochs may have a few batches more or fewer.
using PairBatches = BatchesOf<Pairs, PairBatch, PairBatchOptions>;
inline const SentenceBatchOptions& order_of(const PairBatchOptions& options) { return options.order; }
void fill_batch(PairBatch& batch, const Pairs& pairs, const PairBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& order);

}  // namespace rondo
