// Sequences side by side, where a common beginning is computed only once: the hypotheses of an n-best list
// differ in few words. A row of a chunk stands for all sequences that are the same up to the target that it
// scores. For lines of a text that is learnt see data/text/sequences.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/text/streams.h"

namespace rondo {

class SharedPrefixes {
 public:
  /// The first id of a sequence is context, the others are its targets. The longest must come first. Chunks
  /// have at most as many rows, T times B, as there are sequences, or `rows`, whichever is more. The ids must
  /// outlive it. Error if the sequences are not in this order.
  SharedPrefixes(std::vector<std::span<const std::int32_t>> sequences, std::int64_t rows);

  struct Piece {
    Chunk chunk;                          // its streams are not those of the chunk before it:
    std::vector<std::int32_t> continues;  // [B]: that one's stream which each of its own continues
  };
  /// The next piece; false, and no piece, at the end.
  bool next(Piece& piece);

  /// Of the last piece: the stream of a sequence, and how many of its steps, from the first on, are targets
  /// of this sequence; 0 after its end.
  std::int64_t stream(std::size_t sequence) const { return streams_[sequence]; }
  std::int64_t steps(std::size_t sequence) const;

 private:
  std::int64_t targets(std::size_t sequence) const { return std::ssize(sequences_[sequence]) - 1; }
  std::vector<std::size_t> group(Piece& piece);

  std::vector<std::span<const std::int32_t>> sequences_;
  std::int64_t rows_;
  std::size_t alive_;                   // sequences that have not ended, the first ones
  std::int64_t begin_ = 0, steps_ = 0;  // of the last piece
  std::vector<std::int64_t> streams_;   // in the last piece, of each sequence
};

}  // namespace rondo
