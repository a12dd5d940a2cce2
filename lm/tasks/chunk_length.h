// The number of steps of the chunks of truncated back-propagation: fixed, or random around a mean. There is
// no state: a length is a function of the position where the chunk begins. Next: lm/tasks/batches.h.
#pragma once

#include <cstdint>

namespace rondo {

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

}  // namespace rondo
