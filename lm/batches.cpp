// The chunks of an epoch.
#include "lm/batches.h"

#include "lm/chunk_length.h"
#include "tensor/error.h"

namespace rondo {
namespace {

std::variant<Streams, Segments> made(const Recipe& recipe, std::span<const std::int32_t> ids,
                                     std::optional<std::int32_t> line_end) {
  const std::int64_t batch = recipe.train.batch;
  if (recipe.data.batching == "streams") return Streams::for_training(ids, batch);
  if (recipe.data.batching == "crops") return Segments::crops(ids, recipe.train.length, batch);
  check_input(line_end.has_value(), "data.batching = \"lines\": the training text has no line end");
  return Segments::lines(ids, *line_end, batch);
}

}  // namespace

Batches::Batches(const Recipe& recipe, std::span<const std::int32_t> ids,
                 std::optional<std::int32_t> line_end)
    : train_(recipe.train), batches_(made(recipe, ids, line_end)) {
  seek(1, 0);
}

bool Batches::next(Chunk& chunk) {
  if (auto* streams = std::get_if<Streams>(&batches_))
    return streams->next(chunk_length(train_, epoch_, position()), chunk);
  return std::get<Segments>(batches_).next(chunk);
}

void Batches::seek(std::int64_t epoch, std::int64_t position) {
  epoch_ = epoch;
  if (auto* streams = std::get_if<Streams>(&batches_))
    streams->seek(position);
  else
    std::get<Segments>(batches_).seek(static_cast<std::uint64_t>(train_.seed), epoch, position);
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
  if (carries_state()) return {streams * longest_chunk(train_)};
  const auto& segments = std::get<Segments>(batches_);
  const std::int64_t longest = segments.longest(1), padded = streams * longest;
  const std::int64_t rows = segments.longest(streams);
  if (with_padding || rows == padded) return {padded};
  return {rows, (longest + piece_steps - 1) / piece_steps};
}

}  // namespace rondo
