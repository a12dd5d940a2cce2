// The chunks of an epoch of a text: streams, which carry the state from chunk to chunk, or lines or crops,
// each from the initial state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "data/sequences.h"
#include "data/streams.h"
#include "lm/tasks/chunk_length.h"
#include "tensor/keys.h"

namespace rondo {

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
