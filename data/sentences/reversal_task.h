// A generated task for encoder-decoders, which needs no files: the target is the source in reverse. A model
// that has learned it has learned to use every position of its source. Read next: data/sentences/pairs.h.
#pragma once

#include <cstdint>

#include "data/sentences/parallel_text.h"

namespace rondo {

struct ReversalOptions {
  std::int64_t letters = 10;     // the first ones of the alphabet; at most 26
  std::int64_t min_length = 1;   // of a line, in letters
  std::int64_t max_length = 10;  // lengths are uniform
};

/// `count` pairs of lines of random letters, which are separated by spaces so that each is a word: "c a b"
/// and "b a c". A function of the seed: splits need different ones. InputError for options out of range.
TextPair reversal_task(std::uint64_t seed, std::int64_t count, const ReversalOptions& options = {});

}  // namespace rondo
