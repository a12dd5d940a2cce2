// The chunks of an epoch.
#include "lm/tasks/batches.h"

#include <algorithm>
#include <cmath>

#include "tensor/error.h"
#include "tensor/random.h"

namespace rondo {

// --- Chunk length ---

namespace {
constexpr std::int64_t least_steps = 5;
}

std::int64_t chunk_length(const ChunkLength& options, std::uint64_t seed, std::int64_t epoch,
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

std::int64_t longest_chunk(const ChunkLength& options) {
  if (options.deviation == 0) return options.length;
  const double most = static_cast<double>(options.length) + 4 * options.deviation;
  return std::max(least_steps, static_cast<std::int64_t>(most));
}

// --- Batches ---

namespace {

std::variant<Streams, Sequences> made(const BatchOptions& options, std::span<const std::int32_t> ids,
                                      std::optional<std::int32_t> line_end) {
  if (options.batching == Batching::streams) return Streams::for_training(ids, options.batch);
  if (options.batching == Batching::crops) return Sequences::crops(ids, options.chunks.length, options.batch);
  check_input(line_end.has_value(), "data.batching = \"lines\": the training text has no line end");
  return Sequences::lines(ids, *line_end, options.batch);
}

}  // namespace

Keys keys_of(Batching& batching) {
  return {{"batching",
           choice(batching),
           {},
           "",
           "the rows of a batch: streams, whose state is carried on; lines; or crops of train.length "
           "symbols from a random offset; lines and crops are in random order, each from the initial state"}};
}

Keys keys_of(BatchOptions& options) {
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

Batches::Batches(const BatchOptions& options, std::span<const std::int32_t> ids,
                 std::optional<std::int32_t> line_end, std::uint64_t seed)
    : options_(options), seed_(seed), batches_(made(options, ids, line_end)) {
  seek(1, 0);
}

bool Batches::next(Chunk& chunk) {
  if (auto* streams = std::get_if<Streams>(&batches_))
    return streams->next(chunk_length(options_.chunks, seed_, epoch_, position()), chunk);
  return std::get<Sequences>(batches_).next(chunk);
}

void Batches::find(Extreme extreme, bool with_padding, Chunk& chunk) {
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

void Batches::seek(std::int64_t epoch, std::int64_t position) {
  epoch_ = epoch;
  if (auto* streams = std::get_if<Streams>(&batches_))
    streams->seek(position);
  else
    std::get<Sequences>(batches_).seek(seed_, epoch, position);
}

std::int64_t Batches::position() const {
  return std::visit([](const auto& it) { return it.position(); }, batches_);
}
std::int64_t Batches::length() const {
  return std::visit([](const auto& it) { return it.length(); }, batches_);
}
std::int64_t Batches::symbols() const {
  return std::visit([](const auto& it) { return it.scored(); }, batches_);
}

}  // namespace rondo
