// How many steps the chunks of truncated back-propagation have: a fixed number, or about that. It
// deliberately keeps no state: a length is a function of where the chunk begins. Next: lm/tasks/batches.h.
#pragma once

#include <cstdint>

namespace rondo {

struct ChunkLength {
  std::int64_t length = 35;
  double deviation = 0;
};

/// The steps of the chunk that begins at a position of an epoch; at the end of a text there may be fewer.
///
/// With deviation 0 it is `length`. Else as Merity et al. 2018, section 5, and their code: a
/// base of `length` with probability 0.95 and half of it otherwise; then a normal number around the
/// base with that deviation, rounded, and at least 5. Ours: at most longest_chunk(), so that the memory of a
/// training is bounded; and drawn from (seed, epoch, position), so that nothing has to be saved.
std::int64_t chunk_length(const ChunkLength& options, std::uint64_t seed, std::int64_t epoch,
                          std::int64_t position);

/// No chunk has more steps: `length` and four deviations.
std::int64_t longest_chunk(const ChunkLength& options);

}  // namespace rondo
