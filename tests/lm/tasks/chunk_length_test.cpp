// The lengths of chunks: their distribution, their bounds, and that they need no state.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lm/tasks/batches.h"

namespace rondo {
namespace {

// Merity et al. 2018: 70, half of it in one of 20, deviation 5.
TEST(ChunkLength, IsDistributedAsPublished) {
  const ChunkLength chunk{70, 5};
  const int count = 40000;
  double sum = 0, squares = 0;
  int halves = 0;
  for (int64_t position = 0; position < count; ++position) {
    const auto length = static_cast<double>(chunk_length(chunk, 1, 3, position));
    if (length < 52.5) {
      ++halves;
      continue;
    }
    sum += length;
    squares += length * length;
  }
  const double wholes = count - halves, mean = sum / wholes;
  // Four standard errors.
  EXPECT_NEAR(halves / double{count}, 0.05, 4 * std::sqrt(0.05 * 0.95 / count));
  EXPECT_NEAR(mean, 70, 4 * 5 / std::sqrt(wholes));
  // Rounding adds 1/12 to the variance; 1 in 16000 lies above the bound.
  EXPECT_NEAR(squares / wholes - mean * mean, 25 + 1 / 12.0, 4 * 25 * std::sqrt(2 / wholes));
}

TEST(ChunkLength, HasBounds) {
  const ChunkLength chunk{8, 6};
  std::set<int64_t> seen;
  for (int64_t position = 0; position < 200000; ++position) seen.insert(chunk_length(chunk, 1, 1, position));
  EXPECT_EQ(*seen.begin(), 5);
  EXPECT_EQ(*seen.rbegin(), 32);
  EXPECT_EQ(longest_chunk(chunk), 32);
  EXPECT_EQ(longest_chunk({2, 0.5}), 5) << "never below the least";
  EXPECT_EQ(chunk_length({2, 0.5}, 1, 1, 0), 5);
}

TEST(Batches, OfManyLengthsReadTheWholeTextAndGoOnFromAPosition) {
  std::vector<int32_t> ids(1001);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(i);
  BatchOptions options;
  options.chunks = {20, 4};
  options.batch = 2;
  Batches whole(options, ids), part(options, ids);
  for (const int64_t epoch : {1, 2}) {
    whole.seek(epoch, 0);
    std::set<int64_t> lengths;
    int64_t read = 0;
    for (Chunk chunk; whole.next(chunk); read += chunk.steps) {
      ASSERT_EQ(chunk.inputs[0], read);
      ASSERT_LE(chunk.steps, longest_chunk(options.chunks));
      lengths.insert(chunk.steps);
      part.seek(epoch, read);
      Chunk same;
      ASSERT_TRUE(part.next(same));
      EXPECT_EQ(same.inputs, chunk.inputs);
    }
    EXPECT_EQ(read, 500);
    EXPECT_GT(lengths.size(), 3u);
  }
}

}  // namespace
}  // namespace rondo
