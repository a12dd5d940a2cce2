// The chunks of an epoch of a text and their lengths: streams, which carry the state from chunk to chunk, or
// lines or crops, each from the initial state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "data/sequences.h"
#include "data/streams.h"
#include "tensor/keys.h"

namespace rondo {

// --- Chunk length ---
// The number of steps of the chunks of truncated back-propagation: fixed, or random around a mean. There is
// no state: a length is a function of the position where the chunk begins.

struct ChunkLength {
  std::int64_t length = 35;
  double deviation = 0;
};

/// The steps of the chunk that begins at a position in an epoch; the last chunk of a text may have fewer.
///
/// With deviation 0 it is `length`. Otherwise, as in Merity et al. 2018, section 5, and their code, the mean
/// is `length` with probability 0.95 and half of it with probability 0.05; the length is drawn from a normal
/// distribution with this mean and that deviation, rounded, and at least 5. Ours: it is at most
/// longest_chunk(), so that the memory of a training is bounded, and depends only on (seed, epoch, position),
/// so that nothing has to be saved.
std::int64_t chunk_length(const ChunkLength& options, std::uint64_t seed, std::int64_t epoch,
                          std::int64_t position);

/// The maximum number of steps: `length` plus four deviations.
std::int64_t longest_chunk(const ChunkLength& options);

// --- Batches ---

/// Steps of each piece into which a chunk is divided to leave out padding (data/sequences.h).
constexpr std::int64_t piece_steps = 16;

enum class Batching { streams, lines, crops };
inline std::vector<std::string> names_of(Batching) { return {"streams", "lines", "crops"}; }
/// A key of section [data], not [train].
Keys keys_of(Batching& batching);

struct BatchOptions {
  Batching batching = Batching::streams;
  std::int64_t batch = 20;  // streams, lines or crops computed together
  ChunkLength chunks{};     // of streams; crops have `chunks.length` symbols
};
/// All keys except the batching.
Keys keys_of(BatchOptions& options);

class Batches {
 public:
  /// `ids` must outlive it. `line_end` is the id that ends a line, for Batching::lines; the seed determines
  /// the lengths of chunks and the order of lines and crops. InputError if the text is too short, or has no
  /// line end for Batching::lines.
  Batches(const BatchOptions& options, std::span<const std::int32_t> ids,
          std::optional<std::int32_t> line_end = {}, std::uint64_t seed = 1);

  /// The next chunk of the epoch; false at its end.
  bool next(Chunk& chunk);
  /// The largest chunk of the first epoch: of streams a longest one, of lines that with the most symbols,
  /// with padding or without; or the smallest chunk: of streams the last one.
  void find(Extreme extreme, bool with_padding, Chunk& chunk);
  bool carries_state() const { return std::holds_alternative<Streams>(batches_); }
  /// Goes to a position in an epoch (from 1): from 0 to length(), counted in steps for streams, else in
  /// chunks.
  void seek(std::int64_t epoch, std::int64_t position);
  std::int64_t position() const;
  std::int64_t length() const;
  /// Scored symbols of an epoch.
  std::int64_t symbols() const;

 private:
  BatchOptions options_;
  std::uint64_t seed_;
  std::int64_t epoch_ = 1;
  std::variant<Streams, Sequences> batches_;
};

}  // namespace rondo
