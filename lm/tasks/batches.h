// The chunks of an epoch of a text and their lengths: streams, which carry the state from chunk to chunk, or
// lines or crops, each from the initial state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "data/text/streams.h"
#include "tensor/error.h"
#include "tensor/keys.h"
#include "tensor/random.h"

namespace rondo {

// --- Chunk length ---
// The number of steps of the chunks of truncated back-propagation: fixed, or random around a mean. There is
// no state: a length is a function of the position where the chunk begins.

struct ChunkLength {
  std::int64_t length = 35;
  double deviation = 0;
};

constexpr std::int64_t least_steps = 5;  // of random lengths

/// The maximum number of steps: `length` plus four deviations.
inline std::int64_t longest_chunk(const ChunkLength& options) {
  if (options.deviation == 0) return options.length;
  const double most = static_cast<double>(options.length) + 4 * options.deviation;
  return std::max(least_steps, static_cast<std::int64_t>(most));
}

/// The steps of the chunk that begins at a position in an epoch; the last chunk of a text may have fewer.
///
/// With deviation 0 it is `length`. Otherwise, as in Merity et al. 2018, section 5, and their code, the mean
/// is `length` with probability 0.95 and half of it with probability 0.05; the length is drawn from a normal
/// distribution with this mean and that deviation, rounded, and at least 5. Ours: it is at most
/// longest_chunk(), so that the memory of a training is bounded, and depends only on (seed, epoch, position),
/// so that nothing has to be saved.
inline std::int64_t chunk_length(const ChunkLength& options, std::uint64_t seed, std::int64_t epoch,
                                 std::int64_t position) {
  if (options.deviation == 0) return options.length;
  const RandomKey key{
      .seed = seed, .name = hash_of("train.length"), .update = static_cast<std::uint64_t>(epoch)};
  const PhiloxBlock drawn = key.block(static_cast<std::uint64_t>(position));
  const auto length = static_cast<double>(options.length);
  const double base = uniform_from(drawn.word[0]) < 0.95 ? length : length / 2;
  const double normal = normal_from(drawn.word[1], drawn.word[2]);
  return std::clamp<std::int64_t>(std::llround(base + options.deviation * normal), least_steps,
                                  longest_chunk(options));
}

// --- Batches ---

/// Steps of each piece into which a chunk is divided to leave out padding (data/text/streams.h).
constexpr std::int64_t piece_steps = 16;

enum class Batching { streams, lines, crops };
inline std::vector<std::string> names_of(Batching) { return {"streams", "lines", "crops"}; }
/// A key of section [data], not [train].
inline Keys keys_of(Batching& batching) {
  return {{"batching", choice(batching),
           "the rows of a batch: streams, whose state is carried on; lines; or crops of train.length "
           "symbols from a random offset; lines and crops are in random order, each from the initial state"}};
}

struct BatchOptions {
  Batching batching = Batching::streams;
  std::int64_t batch = 20;  // streams, lines or crops computed together
  ChunkLength chunks{};     // of streams; crops have `chunks.length` symbols
};
/// All keys except the batching.
inline Keys keys_of(BatchOptions& options) {
  return {
      {"batch", &options.batch, any_width(), "streams", "pieces of the text that are read side by side"},
      {"length", &options.chunks.length, any_width(), "symbols",
       "steps of truncated back-propagation; a line is never cut"},
      {"length_deviation", &options.chunks.deviation, between(0, 1'000'000), "symbols",
       "each chunk has a length of its own, normally distributed with this deviation around train.length (in "
       "1 of 20 around half of it), at least 5 and at most train.length and 4 deviations; where the loss is "
       "a mean, the learning rate of its step is in proportion to it; 0: all have train.length"},
  };
}

class Batches {
 public:
  /// `ids` must outlive it. `line_end` is the id that ends a line, for Batching::lines; the seed determines
  /// the lengths of chunks and the order of lines and crops. InputError if the text is too short, or has no
  /// line end for Batching::lines.
  Batches(const BatchOptions& options, std::span<const std::int32_t> ids,
          std::optional<std::int32_t> line_end = {}, std::uint64_t seed = 1)
      : options_(options), seed_(seed), batches_(made(options, ids, line_end)) {
    seek(1, 0);
  }

  /// The next chunk of the epoch; false at its end.
  bool next(Chunk& chunk) {
    if (auto* streams = std::get_if<Streams>(&batches_))
      return streams->next(chunk_length(options_.chunks, seed_, epoch_, position()), chunk);
    return std::get<Sequences>(batches_).next(chunk);
  }
  /// The largest chunk of the first epoch: of streams a longest one, of lines that with the most symbols,
  /// with padding or without; or the smallest chunk: of streams the last one.
  void find(Extreme extreme, bool with_padding, Chunk& chunk) {
    seek(1, 0);
    if (auto* sequences = std::get_if<Sequences>(&batches_)) {
      sequences->seek_extreme(extreme, with_padding);
      next(chunk);
      return;
    }
    auto& streams = std::get<Streams>(batches_);
    const std::int64_t longest = longest_chunk(options_.chunks);
    if (extreme == Extreme::smallest) streams.seek((length() - 1) / longest * longest);
    streams.next(longest, chunk);
  }
  bool carries_state() const { return std::holds_alternative<Streams>(batches_); }
  /// Goes to a position in an epoch (from 1): from 0 to length(), counted in steps for streams, else in
  /// chunks.
  void seek(std::int64_t epoch, std::int64_t position) {
    epoch_ = epoch;
    if (auto* streams = std::get_if<Streams>(&batches_))
      streams->seek(position);
    else
      std::get<Sequences>(batches_).seek(seed_, epoch, position);
  }
  std::int64_t position() const {
    return std::visit([](const auto& it) { return it.position(); }, batches_);
  }
  std::int64_t length() const {
    return std::visit([](const auto& it) { return it.length(); }, batches_);
  }
  /// Scored symbols of an epoch.
  std::int64_t symbols() const {
    return std::visit([](const auto& it) { return it.scored(); }, batches_);
  }

 private:
  static std::variant<Streams, Sequences> made(const BatchOptions& options, std::span<const std::int32_t> ids,
                                               std::optional<std::int32_t> line_end) {
    if (options.batching == Batching::streams) return Streams::for_training(ids, options.batch);
    if (options.batching == Batching::crops)
      return Sequences::crops(ids, options.chunks.length, options.batch);
    check_input(line_end.has_value(), "data.batching = \"lines\": the training text has no line end");
    return Sequences::lines(ids, *line_end, options.batch);
  }

  BatchOptions options_;
  std::uint64_t seed_;
  std::int64_t epoch_ = 1;
  std::variant<Streams, Sequences> batches_;
};

}  // namespace rondo
