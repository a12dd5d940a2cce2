// Triples of consecutive sentences, from which a model of sentences learns: it reads the middle one and
// writes those before and after it. A text has one sentence per line, with an empty line between passages;
// or it is running text, one passage per line. No triple crosses the end of a passage. Read next:
// nn/models/skip_thought.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/sentences/sentence_batches.h"
#include "data/text/vocabulary.h"

namespace rondo {

/// Where a sentence of a text ends: at the end of a line; or, in lines that are passages, also after each
/// word that is a full stop, a question mark or an exclamation mark.
enum class SentenceEnds { lines, marks };
inline std::vector<std::string> names_of(SentenceEnds) { return {"lines", "marks"}; }

struct TripleOptions {
  SentenceEnds sentences = SentenceEnds::lines;
  std::int64_t max_length = 0;  // in training only; the end symbol does not count; 0: no limit
};
Keys keys_of(TripleOptions& options);

/// A text of passages as one sentence a line with an empty line after each passage; with SentenceEnds::lines
/// the text as it is.
Text one_sentence_a_line(Text text, SentenceEnds ends);

struct Triples {
  Sentences sentences;                // none is empty
  std::vector<std::int64_t> middles;  // i: sentences i - 1, i and i + 1 are a triple
  std::int64_t left_out = 0;          // triples of which a sentence is too long

  std::int64_t size() const { return std::ssize(middles); }
  /// Symbols to write: those of the sentences before and after the middle one, of a triple and of all.
  std::int64_t scored(std::int64_t triple) const;
  std::int64_t scored() const;
  /// The longer of the two sentences that are written, and the middle one.
  BatchOrder::Lengths lengths(std::int64_t triple) const;
};
/// Finds the triples of a text with one sentence a line; empty lines end passages. InputErrors of
/// encode_sentences(), and if there is no triple, or none without a sentence of more than `max_length`
/// symbols (0: no limit).
Triples triples_of(const Text& text, const Vocabulary& vocabulary, std::int64_t max_length = 0);

/// A batch of B triples.
struct TripleBatch {
  BatchShare share;  // of the whole batch
  PaddedSentences middle;
  ShiftedSentences previous, next;
  std::int64_t scored = 0;  // symbols to write, of the whole batch
};

using TripleBatches = BatchesOf<Triples, TripleBatch>;
void fill_batch(TripleBatch& batch, const Triples& triples, const SentenceBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& order);

}  // namespace rondo
