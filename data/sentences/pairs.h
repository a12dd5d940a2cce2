// Pairs of sentences as ids: a line of the source and its translation, each with the end symbol (`<eos>`, or
// the newline, of its vocabulary). Read next: data/sentences/pair_batches.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sentences/parallel_text.h"
#include "data/text/vocabulary.h"

namespace rondo {

/// Sentences of ids, one after another; none is empty, because each has its end symbol.
class Sentences {
 public:
  void add(std::span<const std::int32_t> sentence);

  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  /// Sentence `index`; its size() is its length with the end symbol.
  std::span<const std::int32_t> operator[](std::int64_t index) const;
  std::int64_t length(std::int64_t index) const { return std::ssize((*this)[index]); }

  std::int64_t symbols() const { return static_cast<std::int64_t>(ids_.size()); }  // with the end symbols
  std::int64_t count(std::int32_t id) const;  // how often a symbol occurs

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::int64_t> ends_;  // of each sentence, in ids_
};

/// One sentence for each line, also for an empty one, which has only its end symbol. InputErrors of
/// Vocabulary::encode; for a vocabulary without a line end; and, with the line, for words of a text that are
/// `<eos>`, which would shift all later lines.
Sentences encode_sentences(std::string_view text, const std::string& name, const Vocabulary& vocabulary);

struct Pairs {
  Sentences source, target;   // of the same size
  std::int64_t left_out = 0;  // pairs of the text that are too long
  std::int64_t empty = 0;     // pairs that are left out since a side is empty

  std::int64_t size() const { return source.size(); }
};

struct PairOptions {
  bool shared_vocabulary = false;  // one for both languages
  std::int64_t max_length = 0;     // in training only; the end symbol does not count; 0: no limit
};
Keys keys_of(PairOptions& options);

struct PairVocabularies {
  Vocabulary source, target;
};
/// Of the two training texts; if shared, of both together: then the two are equal, and the limits count the
/// symbols of both. InputErrors of Vocabulary.
PairVocabularies vocabularies_of(const TextPair& train, Tokenization tokenization,
                                 const VocabularyLimits& limits, bool shared);

/// With a `max_length` other than 0, pairs in which a side has more symbols, not counting its end symbol,
/// are left out; so are those with an empty side of a text with gaps. InputErrors of encode_sentences(), and
/// if no pair is left.
Pairs encode_pairs(const TextPair& texts, const PairVocabularies& vocabularies, std::int64_t max_length = 0);

/// The same without pairs that have an empty side, from which no translation can be learnt. InputError also
/// if no other pair is left.
Pairs training_pairs(const TextPair& texts, const PairVocabularies& vocabularies, std::int64_t max_length);

}  // namespace rondo
