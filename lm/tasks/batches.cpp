// The chunks of an epoch.
#include "lm/tasks/batches.h"

#include "tensor/error.h"

namespace rondo {
namespace {

std::variant<Streams, Sequences> made(const BatchOptions& options, std::span<const std::int32_t> ids) {
  if (options.batching == Batching::streams) return Streams::for_training(ids, options.batch);
  if (options.batching == Batching::crops) return Sequences::crops(ids, options.chunks.length, options.batch);
  check_input(options.line_end.has_value(), "data.batching = \"lines\": the training text has no line end");
  return Sequences::lines(ids, *options.line_end, options.batch);
}

}  // namespace

Batches::Batches(const BatchOptions& options, std::span<const std::int32_t> ids)
    : options_(options), batches_(made(options, ids)) {
  seek(1, 0);
}

bool Batches::next(Chunk& chunk) {
  if (auto* streams = std::get_if<Streams>(&batches_))
    return streams->next(chunk_length(options_.chunks, epoch_, position()), chunk);
  return std::get<Sequences>(batches_).next(chunk);
}

void Batches::seek(std::int64_t epoch, std::int64_t position) {
  epoch_ = epoch;
  if (auto* streams = std::get_if<Streams>(&batches_))
    streams->seek(position);
  else
    std::get<Sequences>(batches_).seek(options_.chunks.seed, epoch, position);
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

ChunkSize Batches::most(std::int64_t streams, bool with_padding) const {
  if (carries_state()) return {streams * longest_chunk(options_.chunks)};
  const auto& segments = std::get<Sequences>(batches_);
  const std::int64_t longest = segments.longest(1), padded = streams * longest;
  const std::int64_t rows = segments.longest(streams);
  if (with_padding || rows == padded) return {padded};
  return {rows, (longest + piece_steps - 1) / piece_steps};
}

}  // namespace rondo
