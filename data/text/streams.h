// How the ids of a text are batched: in streams, whose hidden state is carried from chunk to chunk; or in
// sequences, lines, crops or pieces of the text, each read from the initial state. Read next:
// data/ngram/kneser_ney.h, the baseline; data/sentences/sentence_batches.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace rondo {

// --- Random orders ---
// They are a function of seed and epoch, so that a run resumes in mid-epoch without a saved state of a
// generator.

/// All random numbers of an epoch come from it, in order.
inline std::mt19937_64 epoch_generator(std::uint64_t seed, std::int64_t epoch) {
  return std::mt19937_64(seed * 1'000'003 + static_cast<std::uint64_t>(epoch));
}

/// Not std::shuffle, whose order differs between standard libraries.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

// --- Chunks ---

/// T steps of B streams; element [t, b] is at t * B + b.
struct Chunk {
  static constexpr std::int32_t ignore_index = -1;

  std::int64_t steps = 0, streams = 0;  // T, B
  std::int64_t scored = 0;              // targets that are not ignore_index
  std::vector<std::int32_t> inputs{};   // [T, B]
  /// [T, B]: the symbol after each input, or ignore_index: in padding, where the input is 0, and before a
  /// stream (Streams::for_evaluation).
  std::vector<std::int32_t> targets{};
  std::vector<std::int64_t> lengths{};  // [B]: the steps of each stream that are not padding, the first ones
  bool from_zero_state = false;         // else its streams continue the first B of the previous chunk
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

/// Adds padding up to `steps` steps to a Chunk, or to what has such inputs, targets and lengths.
template <class Targeted>
void lengthen(Targeted& batch, std::int64_t steps) {
  batch.steps = steps;
  batch.inputs.resize(static_cast<std::size_t>(steps) * batch.lengths.size(), 0);
  batch.targets.resize(batch.inputs.size(), Targeted::ignore_index);
}

// --- Streams ---
// Ids side by side for truncated back-propagation through time. Nothing is shuffled, because the hidden state
// is carried on.

/// Cuts n symbols into B runs, which are read in parallel. Every symbol is a target except the first, which
/// is context only. Holds a view of the ids, which must outlive it.
class Streams {
 public:
  /// B runs of equal length floor((n - 1) / B); the tail of fewer than B targets is dropped.
  static Streams for_training(std::span<const std::int32_t> ids, std::int64_t streams);

  /// Runs that differ by at most one in length, nothing dropped: every target occurs exactly once. After the
  /// end of a run, targets are ignore_index. More streams than targets are allowed: some then score nothing.
  /// A run after the first one begins `warm_up` symbols earlier; the targets of these steps are ignore_index.
  /// Error if there are not more symbols than streams and warm_up together.
  static Streams for_evaluation(std::span<const std::int32_t> ids, std::int64_t streams,
                                std::int64_t warm_up = 0);

  /// The next chunk: `steps` steps (1 or more), fewer at the end. False, and no chunk, at the end.
  bool next(std::int64_t steps, Chunk& chunk);

  std::int64_t streams() const { return streams_; }              // B
  std::int64_t length() const { return base_ + (longer_ > 0); }  // steps from begin to end
  /// Targets from begin to end.
  std::int64_t scored() const { return base_ * streams_ + longer_ - (streams_ - 1) * warm_up_; }

  /// Steps read so far; seek(0) rewinds, seek(position()) resumes. Error outside [0, length()].
  std::int64_t position() const { return position_; }
  void seek(std::int64_t position);

 private:
  Streams(std::span<const std::int32_t> ids, std::int64_t streams, std::int64_t warm_up, bool drop_tail);

  std::span<const std::int32_t> ids_;
  std::int64_t streams_, warm_up_;
  std::int64_t base_;    // the length of a run;
  std::int64_t longer_;  // this many runs, the first ones, are longer by one
  std::int64_t position_ = 0;
};

// --- Sequences ---

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

// --- Shared prefixes ---
// Sequences side by side, where a common beginning is computed only once: such as hypotheses that differ in
// few words differ in few words. A row of a chunk stands for all sequences that are the same up to the target
// that it scores.

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

  /// Return the stream of a sequence in the last piece, and how many of its steps, from the first on, are
  /// targets of this sequence; 0 after its end.
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
