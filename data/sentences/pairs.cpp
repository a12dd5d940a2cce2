// Pairs of sentences as ids; see data/sentences/pairs.h.
#include "data/sentences/pairs.h"

#include <algorithm>

namespace rondo {

Keys keys_of(PairOptions& options) {
  return {
      {"shared_vocabulary", &options.shared_vocabulary, "one vocabulary, made from both languages"},
      {"max_length", &options.max_length, at_least(0), "symbols",
       "leave out training pairs in which a side has more symbols, not counting its end; 0: keep all", true},
  };
}

PairVocabularies vocabularies_of(const TextPair& train, Tokenization tokenization,
                                 const VocabularyLimits& limits, bool shared) {
  if (!shared)
    return {Vocabulary(train.source, tokenization, limits), Vocabulary(train.target, tokenization, limits)};
  // One text, not the list of texts that Vocabulary accepts: the second of these would not be training text.
  const Text both{.name = fmt::format("{} and {}", train.source.name, train.target.name),
                  .content = train.source.content + train.target.content,
                  .sha256 = {},
                  .notes = {}};
  const Vocabulary vocabulary(both, tokenization, limits);
  return {vocabulary, vocabulary};
}

Pairs encode_pairs(const TextPair& texts, const Vocabulary& source, const Vocabulary& target,
                   std::int64_t max_length, bool without_empty) {
  without_empty |= texts.has_gaps;
  Pairs pairs{.source = encode_sentences(texts.source.content, texts.source.name, source),
              .target = encode_sentences(texts.target.content, texts.target.name, target)};
  check(pairs.source.size() == pairs.target.size(), "[pairs] {} and {} sentences", pairs.source.size(),
        pairs.target.size());
  if (max_length == 0 && !without_empty) return pairs;

  Pairs kept;
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    const auto [shorter, longer] = std::minmax({pairs.source.length(i), pairs.target.length(i)});
    if (max_length > 0 && longer - 1 > max_length) {
      ++kept.left_out;
    } else if (without_empty && shorter == 1) {
      ++kept.empty;
    } else {
      kept.source.add(pairs.source[i]);
      kept.target.add(pairs.target[i]);
    }
  }
  check_input(
      kept.size() > 0,
      "{} and {}: no pair is left: {} have more symbols than max_length = {} (0: no limit), {} an empty side",
      texts.source.name, texts.target.name, kept.left_out, max_length, kept.empty);
  return kept;
}

// --- Batches ---

Keys keys_of(PairBatchOptions& options) {
  return joined(
      {batch_keys(options.order, "pairs of sentences; or symbols of the target"),
       {{"reverse_source", &options.reverse_source, "read the source from its end to its beginning"}}});
}

void fill_batch(PairBatch& batch, const Pairs& pairs, const PairBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& /*order*/) {
  for (const std::int64_t pair : whole) batch.scored += pairs.target.length(pair);
  const std::span<const std::int64_t> chosen = batch.share.of(whole);
  batch.pairs.assign(chosen.begin(), chosen.end());
  batch.source = padded(pairs.source.at(chosen), options.reverse_source);
  batch.target = shifted(pairs.target.at(chosen));
}

}  // namespace rondo
