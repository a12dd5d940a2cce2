// Sequences: lines, crops or pieces of a text side by side, each read from the initial state.
// data/text/streams.h, the other way to batch a text, carries the state. Read next: data/ngram/ngram.h, the
// baseline.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/text/streams.h"

namespace rondo {

/// Takes B sequences at a time, the longest first, and pads the others to its length. Targets of padding, and
/// of unused rows of the last chunk, are ignore_index. Holds a view of the ids, which must outlive it.
class Sequences {
 public:
  /// One sequence per line, including its end; the end of the previous line is its context, so that every
  /// symbol is a target. The text after the last `line_end` is a line as well. InputError if there are no
  /// ids.
  static Sequences lines(std::span<const std::int32_t> ids, std::int32_t line_end, std::int64_t batch);

  /// Consecutive sequences of `length` targets, starting at a random offset below `length`, which differs in
  /// each epoch; what does not fill a sequence is left out (Cooijmans et al. 2016). InputError if the text is
  /// shorter than two sequences.
  static Sequences crops(std::span<const std::int32_t> ids, std::int64_t length, std::int64_t batch);

  /// Consecutive sequences of `length` targets (the last may be shorter): every symbol but the first, which
  /// is context only, is a target once. InputError unless there are two symbols.
  static Sequences fixed(std::span<const std::int32_t> ids, std::int64_t length, std::int64_t batch);

  /// Sorts by length until the next seek(), for uses in which the order does not matter: least padding.
  void order_by_length();

  /// Goes to chunk `position` of an epoch. The epoch's number determines the order; 0: the order of the text.
  /// Error outside [0, length()].
  void seek(std::uint64_t seed, std::int64_t epoch, std::int64_t position);
  /// Goes to the chunk of this epoch that has the most symbols, with padding or without, or the fewest.
  void seek_extreme(Extreme extreme, bool with_padding);
  /// The next chunk; false, and no chunk, at the end.
  bool next(Chunk& chunk);

  std::int64_t length() const;  // chunks of an epoch
  std::int64_t position() const { return position_; }
  std::int64_t scored() const;  // targets of an epoch

 private:
  struct Sequence {
    std::int64_t begin, length;  // of its targets
  };
  static bool longer(const Sequence& a, const Sequence& b) { return a.length > b.length; }
  Sequences(std::span<const std::int32_t> ids, std::int32_t first_context, std::int64_t batch);

  std::span<const std::int32_t> ids_;
  std::int32_t first_context_;  // of a sequence that begins with the text
  std::int64_t batch_, crop_ = 0;
  std::vector<Sequence> sequences_;
  std::int64_t position_ = 0;
};

/// Cuts a chunk of sequences in time, after each `steps` steps, to drop most of its padding: a piece has only
/// the streams that have not ended before it, which are the first ones, because the longest come first. A
/// stream without steps is dropped.
std::vector<Chunk> pieces_without_padding(const Chunk& chunk, std::int64_t steps);

}  // namespace rondo
