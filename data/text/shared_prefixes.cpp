// Sequences side by side; see data/text/shared_prefixes.h.
#include "data/text/shared_prefixes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tensor/error.h"

namespace rondo {

SharedPrefixes::SharedPrefixes(std::vector<std::span<const std::int32_t>> sequences, std::int64_t rows)
    : sequences_(std::move(sequences)), rows_(rows), alive_(sequences_.size()), streams_(sequences_.size()) {
  check(std::is_sorted(sequences_.begin(), sequences_.end(),
                       [](const auto& a, const auto& b) { return a.size() > b.size(); }),
        "[shared prefixes] sequences from the longest to the shortest were expected");
}

/// Divides the sequences into the streams of the next piece; returns the longest sequence of each.
std::vector<std::size_t> SharedPrefixes::group(Piece& piece) {
  const auto at = static_cast<std::size_t>(begin_);
  std::map<std::pair<std::int64_t, std::pair<std::int32_t, std::int32_t>>, std::int64_t> found;
  std::vector<std::size_t> longest;
  piece.continues.clear();
  for (std::size_t i = 0; i < alive_; ++i) {
    const std::span<const std::int32_t> ids = sequences_[i];
    const auto [entry, is_new] =
        found.try_emplace({streams_[i], {ids[at], ids[at + 1]}}, std::ssize(longest));
    if (is_new) {
      longest.push_back(i);
      piece.continues.push_back(static_cast<std::int32_t>(streams_[i]));
    }
    streams_[i] = entry->second;
  }
  return longest;
}

bool SharedPrefixes::next(Piece& piece) {
  begin_ += std::exchange(steps_, 0);
  while (alive_ > 0 && targets(alive_ - 1) <= begin_) --alive_;
  if (alive_ == 0) return false;
  const std::vector<std::size_t> longest = group(piece);
  const std::int64_t streams = std::ssize(longest);
  steps_ = std::min(std::max<std::int64_t>(1, rows_ / streams), targets(0) - begin_);
  const auto id = [&](std::size_t sequence, std::int64_t t) {
    return sequences_[sequence][static_cast<std::size_t>(begin_ + t)];
  };
  for (std::size_t i = 0; i < alive_; ++i) {  // up to where sequences of a stream begin to differ
    const std::size_t other = longest[static_cast<std::size_t>(streams_[i])];
    for (std::int64_t t = 1; t < steps(i); ++t)
      if (id(i, t + 1) != id(other, t + 1)) steps_ = t;
  }

  Chunk& chunk = piece.chunk;
  chunk.steps = steps_;
  chunk.streams = streams;
  chunk.scored = 0;
  chunk.from_zero_state = begin_ == 0;
  chunk.inputs.assign(static_cast<std::size_t>(steps_ * streams), 0);
  chunk.targets.assign(chunk.inputs.size(), Chunk::ignore_index);
  chunk.lengths.clear();
  for (std::int64_t b = 0; b < streams; ++b) {
    const std::size_t sequence = longest[static_cast<std::size_t>(b)];
    chunk.lengths.push_back(steps(sequence));
    chunk.scored += chunk.lengths.back();
    for (std::int64_t t = 0; t < chunk.lengths.back(); ++t) {
      const auto place = static_cast<std::size_t>(t * streams + b);
      chunk.inputs[place] = id(sequence, t);
      chunk.targets[place] = id(sequence, t + 1);
    }
  }
  return true;
}

std::int64_t SharedPrefixes::steps(std::size_t sequence) const {
  return std::clamp<std::int64_t>(targets(sequence) - begin_, 0, steps_);
}

}  // namespace rondo
