// Streams: ids side by side for truncated back-propagation through time, in chunks [T, B]. Nothing is
// shuffled, because the hidden state is carried from chunk to chunk. Read next: data/ngram/ngram.h, the
// baseline.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rondo {

/// T steps of B streams; element [t, b] is at t * B + b.
struct Chunk {
  static constexpr std::int32_t ignore_index = -1;

  std::int64_t steps = 0, streams = 0;  // T, B
  std::int64_t scored = 0;              // targets that are not ignore_index
  std::vector<std::int32_t> inputs;     // [T, B]
  std::vector<std::int32_t>
      targets;  // [T, B]: the symbol after each input, or ignore_index (then the input is 0)
  std::vector<std::int64_t> lengths;  // [B]: the number of scored steps of each stream, from its first on
  bool from_zero_state = false;       // else its streams continue the first B of the previous chunk
};

/// Which batch of an epoch is sought: to measure memory (lm/training/memory.h).
enum class Extreme { largest, smallest };

/// Steps [begin, end) of streams [first, first + count).
Chunk part_of(const Chunk& chunk, std::int64_t begin, std::int64_t end, std::int64_t first,
              std::int64_t count);
/// All steps of streams [first, first + count): a micro-batch.
inline Chunk streams_of(const Chunk& chunk, std::int64_t first, std::int64_t count) {
  return part_of(chunk, 0, chunk.steps, first, count);
}

/// Cuts n symbols into B runs, which are read in parallel. Every symbol is a target except the first, which
/// is context only. Holds a view of the ids, which must outlive it.
class Streams {
 public:
  /// B runs of equal length floor((n - 1) / B); the tail of fewer than B targets is dropped.
  static Streams for_training(std::span<const std::int32_t> ids, std::int64_t streams);

  /// Runs that differ by at most one in length, nothing dropped: every target occurs exactly once. After the
  /// end of a run, targets are ignore_index. More streams than targets are allowed: some then score nothing.
  static Streams for_evaluation(std::span<const std::int32_t> ids, std::int64_t streams);

  /// The next chunk: `steps` steps (1 or more), fewer at the end. False, and no chunk, at the end.
  bool next(std::int64_t steps, Chunk& chunk);

  std::int64_t streams() const { return streams_; }                   // B
  std::int64_t length() const { return base_ + (longer_ > 0); }       // steps from begin to end
  std::int64_t scored() const { return base_ * streams_ + longer_; }  // targets from begin to end

  /// Steps read so far; seek(0) rewinds, seek(position()) resumes. Error outside [0, length()].
  std::int64_t position() const { return position_; }
  void seek(std::int64_t position);

 private:
  Streams(std::span<const std::int32_t> ids, std::int64_t streams, bool drop_tail);

  std::span<const std::int32_t> ids_;
  std::int64_t streams_;
  std::int64_t base_;    // the length of a run;
  std::int64_t longer_;  // this many runs, the first ones, are longer by one
  std::int64_t position_ = 0;
};

}  // namespace rondo
