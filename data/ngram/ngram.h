// Unigram and bigram models: what a recurrent model must beat before its number means anything. The
// smoothing is the simplest one; data/ngram/kneser_ney.h is the strong baseline. Read next:
// data/ngram/ngram_model.h.
#pragma once

#include <cstdint>
#include <span>

namespace rondo {

/// Cross-entropy in nats per symbol.
struct NgramEntropy {
  double unigram = 0, bigram = 0;
};

/// Of the validation ids, with counts from the training ids smoothed by 0.1 (Lidstone). With N training
/// symbols:
///   unigram p(y) = (count(y) + 0.1) / (N + 0.1 V),   bigram p(y | x) = (count(x y) + 0.1) / (count(x .) +
///   0.1 V).
/// The first validation symbol is context only, as for a recurrent model.
/// Ids are in [0, V); Error otherwise, or for fewer than two ids of either text.
NgramEntropy ngram_entropy(std::span<const std::int32_t> train, std::span<const std::int32_t> valid,
                           std::int64_t vocabulary_size);

}  // namespace rondo
