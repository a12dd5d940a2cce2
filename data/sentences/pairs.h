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

/// With a `max_length` other than 0, pairs in which a side has more symbols, not counting its end symbol,
/// are left out; so are those with an empty side of a text with gaps. InputErrors of encode_sentences(), and
/// if no pair is left.
Pairs encode_pairs(const TextPair& texts, const Vocabulary& source, const Vocabulary& target,
                   std::int64_t max_length = 0);

/// Encodes pairs without those that have an empty side, from which no translation can be learnt. InputError
/// also if no other pair is left.
Pairs training_pairs(const TextPair& texts, const Vocabulary& source, const Vocabulary& target,
                     std::int64_t max_length);

// --- Batches ---

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

/// In the order of BatchOrder, by the lengths of target and source: the rows of a batch are in the order of
/// their target lengths, the longest first. With BatchBy::symbols a pair that is longer than the limit is a
/// batch of its own, and other epochs may have a few batches more or fewer.
using PairBatches = BatchesOf<Pairs, PairBatch, PairBatchOptions>;
inline const SentenceBatchOptions& order_of(const PairBatchOptions& options) { return options.order; }
std::vector<BatchOrder::Lengths> lengths_of(const Pairs& pairs, const PairBatchOptions& options);
void fill_batch(PairBatch& batch, const Pairs& pairs, const PairBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& order);

/// The source half of a batch, for sentences without a translation: row b is sentence b, each with its end
/// symbol. The target half is empty: T = 0.
PairBatch source_batch(const std::vector<std::span<const std::int32_t>>& sentences, bool reverse);

}  // namespace rondo
