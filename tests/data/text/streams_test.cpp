// Streams for truncated back-propagation: data/text/streams.h.
#include "data/text/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/data/files.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Ids = std::vector<std::int32_t>;

Ids counting(std::size_t n) {
  Ids ids(n);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

/// Reads to the end; every pair must be (i, i + 1), each stream must go on where it stopped. Returns how
/// often each id was a target.
std::vector<int> targets_seen(Streams& streams, std::size_t n, std::int64_t steps) {
  std::vector<int> seen(n);
  std::vector<std::int32_t> last(static_cast<std::size_t>(streams.streams()), Chunk::ignore_index);
  Chunk chunk;
  std::int64_t total = 0, scored = 0;
  while (streams.next(steps, chunk)) {
    EXPECT_EQ(chunk.streams, streams.streams());
    EXPECT_LE(chunk.steps, steps);
    EXPECT_EQ(chunk.inputs.size(), static_cast<std::size_t>(chunk.steps * chunk.streams));
    EXPECT_EQ(chunk.targets.size(), chunk.inputs.size());
    EXPECT_EQ(std::ssize(chunk.lengths), chunk.streams);
    EXPECT_EQ(std::accumulate(chunk.lengths.begin(), chunk.lengths.end(), std::int64_t{0}), chunk.scored);
    total += chunk.steps;
    scored += chunk.scored;
    EXPECT_EQ(streams.position(), total);
    for (std::size_t i = 0; i < chunk.targets.size(); ++i) {
      std::int32_t& previous = last[i % last.size()];
      const std::int32_t target = chunk.targets[i];
      if (target == Chunk::ignore_index) {
        EXPECT_EQ(chunk.inputs[i], 0);
        continue;
      }
      EXPECT_EQ(chunk.inputs[i] + 1, target);
      EXPECT_TRUE(previous == Chunk::ignore_index || previous == chunk.inputs[i]);
      previous = target;
      ++seen[static_cast<std::size_t>(target)];
    }
  }
  EXPECT_EQ(total, streams.length());
  EXPECT_EQ(scored, streams.scored());
  EXPECT_EQ(scored, std::accumulate(seen.begin(), seen.end(), std::int64_t{0}));
  return seen;
}

// 23 targets and two times 2 before are three times 9.
TEST(Streams, AStreamAfterAWarmUpBeginsEarlier) {
  const Ids ids = counting(24);
  Streams streams = Streams::for_evaluation(ids, 3, 2);
  EXPECT_EQ(streams.scored(), 23);
  Ids targets;
  Chunk chunk;
  for (const std::int64_t steps : {1, 2, 8}) {  // a warm-up may end within a chunk
    ASSERT_TRUE(streams.next(steps, chunk));
    for (std::size_t i = 0; i < chunk.targets.size(); ++i) {
      const std::int64_t t = std::ssize(targets) / 3, b = std::ssize(targets) % 3;
      EXPECT_EQ(chunk.inputs[i], 7 * b + t);
      targets.push_back(chunk.targets[i]);
      EXPECT_EQ(targets.back(), b > 0 && t < 2 ? Chunk::ignore_index : 7 * b + t + 1);
    }
  }
  EXPECT_FALSE(streams.next(1, chunk));
  EXPECT_EQ(targets.size() - static_cast<std::size_t>(std::ranges::count(targets, Chunk::ignore_index)), 23u);
  EXPECT_EQ(any_error_of([&] { Streams::for_evaluation(ids, 12, 12); }),
            "[streams] 12 streams after 12 symbols each are too many for 24 symbols");
}

TEST(Streams, TrainingLayoutIsTimeMajor) {
  const Ids ids = counting(12);  // 11 targets, 2 streams of 5, one dropped
  Streams streams = Streams::for_training(ids, 2);
  EXPECT_EQ(streams.length(), 5);
  Chunk chunk;
  ASSERT_TRUE(streams.next(3, chunk));
  EXPECT_EQ(chunk.inputs, (Ids{0, 5, 1, 6, 2, 7}));
  EXPECT_EQ(chunk.targets, (Ids{1, 6, 2, 7, 3, 8}));
  ASSERT_TRUE(streams.next(3, chunk));
  EXPECT_EQ(chunk.steps, 2);
  EXPECT_EQ(chunk.inputs, (Ids{3, 8, 4, 9}));
  EXPECT_EQ(chunk.targets, (Ids{4, 9, 5, 10}));
  EXPECT_EQ(chunk.scored, 4);
  EXPECT_FALSE(streams.next(3, chunk));
}

TEST(Streams, TrainingDropsLessThanOneSymbolAStream) {
  for (const std::size_t n : {2u, 3u, 10u, 21u, 100u}) {
    for (const std::size_t batch : {1u, 2u, 3u, 7u}) {
      if (n <= batch) continue;
      const Ids ids = counting(n);
      Streams streams = Streams::for_training(ids, static_cast<std::int64_t>(batch));
      const auto seen = targets_seen(streams, n, 4);
      const std::size_t kept = (n - 1) / batch * batch;
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_EQ(seen[i], i >= 1 && i <= kept) << n << ' ' << batch << ' ' << i;
    }
  }
}

TEST(Streams, EvaluationScoresEverySymbolButTheFirstOnce) {
  for (const std::size_t n : {2u, 3u, 10u, 21u, 100u}) {
    for (const std::int64_t count : {1, 2, 3, 7, 20}) {
      for (const std::int64_t steps : {1, 5, 1000}) {
        const Ids ids = counting(n);
        Streams streams = Streams::for_evaluation(ids, count);
        const auto seen = targets_seen(streams, n, steps);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(seen[i], i >= 1) << n << ' ' << count << ' ' << i;
      }
    }
  }
}

TEST(Streams, EvaluationPadsShorterStreams) {
  const Ids ids = counting(6);  // 5 targets in runs of 2, 2, 1
  Streams streams = Streams::for_evaluation(ids, 3);
  Chunk chunk;
  ASSERT_TRUE(streams.next(10, chunk));
  EXPECT_EQ(chunk.inputs, (Ids{0, 2, 4, 1, 3, 0}));
  EXPECT_EQ(chunk.targets, (Ids{1, 3, 5, 2, 4, -1}));
  EXPECT_EQ(chunk.scored, 5);
}

TEST(Streams, ResumesAtAPositionWithLengthsOfItsOwn) {
  const Ids ids = counting(101);
  Streams whole = Streams::for_training(ids, 3), resumed = Streams::for_training(ids, 3);
  Chunk a, b;
  for (const std::int64_t steps : {5, 1, 7}) whole.next(steps, a);
  EXPECT_EQ(whole.position(), 13);
  resumed.seek(whole.position());
  for (const std::int64_t steps : {4, 9, 2}) {
    ASSERT_TRUE(whole.next(steps, a));
    ASSERT_TRUE(resumed.next(steps, b));
    EXPECT_EQ(a.inputs, b.inputs);
    EXPECT_EQ(a.targets, b.targets);
  }
  whole.seek(0);
  whole.next(1, a);
  EXPECT_EQ(a.inputs.front(), 0);
  EXPECT_THROW(whole.seek(-1), Error);
  EXPECT_THROW(whole.seek(whole.length() + 1), Error);
  EXPECT_NO_THROW(whole.seek(whole.length()));
  EXPECT_FALSE(whole.next(1, a));
}

TEST(Streams, BadInput) {
  const Ids one = counting(1), five = counting(5);
  expect_input_error([&] { Streams::for_evaluation(one, 1); }, "1 symbols");
  expect_input_error([&] { Streams::for_training(five, 0); }, "0 streams");
  expect_input_error([&] { Streams::for_training(five, 5); }, "5 streams needs 6 symbols");
  Streams streams = Streams::for_training(five, 2);
  Chunk chunk;
  EXPECT_THROW(streams.next(0, chunk), Error);
}

// A run that was saved by another build must find its order again. The order is from a generator and a
// shuffle written in Python, from Nishimura & Matsumoto 2000 and Durstenfeld 1964.
TEST(Shuffle, OrderIsTheSameEverywhere) {
  std::vector<int> items(10);
  std::iota(items.begin(), items.end(), 0);
  std::mt19937_64 random = epoch_generator(7, 2);
  shuffle(items, random);
  EXPECT_EQ(items, (std::vector<int>{4, 6, 8, 1, 7, 5, 0, 2, 3, 9}));
}

}  // namespace
}  // namespace rondo
