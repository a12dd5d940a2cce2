// How many steps the chunks have.
#include "lm/tasks/chunk_length.h"

#include <algorithm>
#include <cmath>

#include "tensor/random.h"

namespace rondo {
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

}  // namespace rondo
