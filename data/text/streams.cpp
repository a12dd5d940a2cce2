// Streams; see data/text/streams.h.
#include "data/text/streams.h"

#include <algorithm>

#include "tensor/error.h"

namespace rondo {

Streams::Streams(std::span<const std::int32_t> ids, std::int64_t streams, bool drop_tail)
    : ids_(ids), streams_(streams) {
  check_input(streams >= 1, "{} streams: 1 or more are needed", streams);
  check_input(ids.size() >= 2, "a text of {} symbols: 2 or more are needed, the first being context",
              ids.size());
  const std::int64_t targets = static_cast<std::int64_t>(ids.size()) - 1;
  base_ = targets / streams;
  longer_ = drop_tail ? 0 : targets % streams;
}

Streams Streams::for_training(std::span<const std::int32_t> ids, std::int64_t streams) {
  Streams made(ids, streams, true);
  check_input(made.length() >= 1,
              "a batch of {} streams needs {} symbols or more, and the training text has {}", streams,
              streams + 1, ids.size());
  return made;
}

Streams Streams::for_evaluation(std::span<const std::int32_t> ids, std::int64_t streams) {
  return Streams(ids, streams, false);
}

bool Streams::next(std::int64_t steps, Chunk& chunk) {
  check(steps >= 1, "[streams] a chunk of 1 step or more was expected: {}", steps);
  steps = std::min(steps, length() - position_);
  if (steps == 0) return false;

  const auto size = static_cast<std::size_t>(steps * streams_);
  chunk.steps = steps;
  chunk.streams = streams_;
  chunk.scored = 0;
  chunk.inputs.assign(size, 0);
  chunk.targets.assign(size, Chunk::ignore_index);
  chunk.lengths.clear();
  for (std::int64_t b = 0; b < streams_; ++b) {
    const std::int64_t begin = b * base_ + std::min(b, longer_) + position_;
    const std::int64_t left = base_ + (b < longer_) - position_;
    chunk.lengths.push_back(std::min(steps, left));
    for (std::int64_t t = 0; t < chunk.lengths.back(); ++t) {
      const auto place = static_cast<std::size_t>(t * streams_ + b),
                 source = static_cast<std::size_t>(begin + t);
      chunk.inputs[place] = ids_[source];
      chunk.targets[place] = ids_[source + 1];
    }
    chunk.scored += chunk.lengths.back();
  }
  position_ += steps;
  return true;
}

void Streams::seek(std::int64_t position) {
  check(position >= 0 && position <= length(), "[streams] a position from 0 to {} was expected: {}", length(),
        position);
  position_ = position;
}

Chunk part_of(const Chunk& chunk, std::int64_t begin, std::int64_t end, std::int64_t first,
              std::int64_t count) {
  Chunk part;
  part.steps = end - begin;
  part.streams = count;
  part.from_zero_state = chunk.from_zero_state && begin == 0;
  for (std::int64_t t = begin; t < end; ++t) {
    const std::int64_t row = t * chunk.streams + first;
    part.inputs.insert(part.inputs.end(), chunk.inputs.begin() + row, chunk.inputs.begin() + row + count);
    part.targets.insert(part.targets.end(), chunk.targets.begin() + row, chunk.targets.begin() + row + count);
  }
  for (std::int64_t b = first; b < first + count; ++b) {
    part.lengths.push_back(
        std::clamp<std::int64_t>(chunk.lengths[static_cast<std::size_t>(b)] - begin, 0, part.steps));
    part.scored += part.lengths.back();
  }
  return part;
}

}  // namespace rondo
