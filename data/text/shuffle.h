// Random orders that are a function of seed and epoch, so that a run resumes in mid-epoch without a saved
// state of a generator. Used by data/text/sequences.h, data/sentences/sentence_batches.h and
// data/sentences/labelled_sentences.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace rondo {

/// All random numbers of an epoch come from it, in order.
inline std::mt19937_64 epoch_generator(std::uint64_t seed, std::int64_t epoch) {
  return std::mt19937_64(seed * 1'000'003 + static_cast<std::uint64_t>(epoch));
}

/// Not std::shuffle, whose order differs between standard libraries.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

}  // namespace rondo
