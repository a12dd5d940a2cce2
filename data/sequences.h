// Sequences: lines, crops or sequences of a text side by side, each read from a zero state. The other way to
// batch a text beside data/streams.h, which carries the state on. Read next: data/ngram.h, the baseline.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/streams.h"

namespace rondo {

/// Takes B sequences at a time, the longest first, padded to its length: there and in the rows that the last
/// chunk has too many, targets are ignore_index. Holds a view of the ids, which must outlive it.
class Sequences {
 public:
  /// One sequence a line, its end included; the end of the line before is its context, so that every symbol
  /// is a target. What follows the last `line_end` is a line as well. InputError if there are no ids.
  static Sequences lines(std::span<const std::int32_t> ids, std::int32_t line_end, std::int64_t batch);

  /// Sequences of `length` targets, one behind another from a random offset below `length`, another in each
  /// epoch; what does not fill a sequence is left out (Cooijmans et al. 2016). InputError if the text is
  /// shorter than two sequences.
  static Sequences crops(std::span<const std::int32_t> ids, std::int64_t length, std::int64_t batch);

  /// Sequences of `length` targets (the last may be shorter), one behind another: every symbol but the first,
  /// which is context only, is a target once. InputError unless there are two symbols.
  static Sequences fixed(std::span<const std::int32_t> ids, std::int64_t length, std::int64_t batch);

  /// In order of length until the next seek(), where the order is free: with the least padding.
  void order_by_length();

  /// Goes to chunk `position` of an epoch, whose order is drawn from its number; 0: the order of the text.
  /// Error outside of [0, length()].
  void seek(std::uint64_t seed, std::int64_t epoch, std::int64_t position);
  /// The next chunk; false, and no chunk, if all is read.
  bool next(Chunk& chunk);

  std::int64_t length() const;  // chunks of an epoch
  std::int64_t position() const { return position_; }
  std::int64_t scored() const;  // targets of an epoch
  /// Targets of the `count` longest sequences together.
  std::int64_t longest(std::int64_t count) const;

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

/// A chunk of sequences with little of its padding: cut in time after each `steps` steps; a piece has the
/// streams that are not over before it begins, which are the first ones, as the longest come first. Of a
/// stream with no step at all nothing is left.
std::vector<Chunk> pieces_without_padding(const Chunk& chunk, std::int64_t steps);

}  // namespace rondo
