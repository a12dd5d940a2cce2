// Batches of pairs: data/sentences/pairs.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "data/sentences/pairs.h"
#include "tests/data/files.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Ids = std::vector<std::int32_t>;
using Numbers = std::vector<std::int64_t>;

constexpr std::int32_t source_end = 7, target_end = 9;

void add(Pairs& pairs, Ids source, Ids target) {
  source.push_back(source_end);
  target.push_back(target_end);
  pairs.source.add(source);
  pairs.target.add(target);
}

/// Pairs of very different lengths, without any order; the source begins with the pair's number.
Pairs many_pairs(std::int32_t count) {
  Pairs pairs;
  for (std::int32_t i = 0; i < count; ++i) {
    Ids source(static_cast<std::size_t>(i * 7 % 23), 1);
    source.insert(source.begin(), 100 + i);
    add(pairs, source, Ids(static_cast<std::size_t>(i * 11 % 29), 2));
  }
  return pairs;
}

std::vector<PairBatch> rest_of_epoch(PairBatches& batches) {
  std::vector<PairBatch> all;
  for (PairBatch batch; batches.next(batch);) all.push_back(batch);
  return all;
}
std::vector<PairBatch> epoch_of(PairBatches& batches, std::int64_t epoch) {
  batches.seek(epoch, 0);
  return rest_of_epoch(batches);
}

/// All pairs in the order in which they are read.
Numbers order_of(const std::vector<PairBatch>& batches) {
  Numbers order;
  for (const PairBatch& batch : batches) order.insert(order.end(), batch.pairs.begin(), batch.pairs.end());
  return order;
}
Numbers first_numbers(std::int64_t count) {
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

std::int64_t padded_symbols(const std::vector<PairBatch>& batches) {
  std::int64_t sum = 0;
  for (const PairBatch& batch : batches) sum += batch.target.steps * batch.source.sentences;
  return sum;
}

TEST(PairBatches, PaddingAndShifting) {
  Pairs pairs;
  add(pairs, {1, 2}, {5});
  add(pairs, {3}, {4, 5, 6});
  add(pairs, {}, {});
  PairBatches batches({.order = {.batch = 3}}, pairs, 1);
  batches.seek(0, 0);
  PairBatch batch;
  ASSERT_TRUE(batches.next(batch));
  EXPECT_EQ(batch.pairs, (Numbers{1, 0, 2})) << "the longest target first";
  EXPECT_EQ(batch.source.sentences, 3);
  EXPECT_EQ(batch.source.steps, 3);
  EXPECT_EQ(batch.target.steps, 4);
  EXPECT_EQ(batch.source.ids, (Ids{3, 1, 7,  //
                                   7, 2, 0,  //
                                   0, 7, 0}));
  EXPECT_EQ(batch.target.inputs, (Ids{9, 9, 9,  //
                                      4, 5, 0,  //
                                      5, 0, 0,  //
                                      6, 0, 0}));
  EXPECT_EQ(batch.target.targets, (Ids{4, 5, 9,    //
                                       5, 9, -1,   //
                                       6, -1, -1,  //
                                       9, -1, -1}));
  EXPECT_EQ(batch.source.lengths, (Numbers{2, 3, 1}));
  EXPECT_EQ(batch.target.lengths, (Numbers{4, 2, 1}));
  EXPECT_EQ(batch.scored, 7);
  EXPECT_EQ(batches.scored(), 7);
  EXPECT_FALSE(batches.next(batch));
}

TEST(PairBatches, AreMadeUpOfTheSharesOfRanks) {
  const Pairs pairs = many_pairs(50);
  for (const std::int64_t batch : {3, 4, 11}) {
    PairBatches whole({.order = {.batch = batch}}, pairs, 1);
    std::vector<PairBatches> ranks(4, whole);
    for (std::int64_t own = 0; own < 4; ++own) ranks[static_cast<std::size_t>(own)].divide(4, own);
    for (PairBatch expected; whole.next(expected);) {
      Numbers together, counts;
      for (PairBatches& rank : ranks) {
        PairBatch own;
        ASSERT_TRUE(rank.next(own));
        EXPECT_EQ(own.share.first, std::ssize(together));
        EXPECT_EQ(own.share.count, own.source.sentences);
        EXPECT_EQ(own.share.whole, expected.source.sentences);
        EXPECT_EQ(own.scored, expected.scored) << "of the whole batch";
        EXPECT_EQ(own.target.targets.size(),
                  static_cast<std::size_t>(own.target.steps * own.source.sentences));
        together.insert(together.end(), own.pairs.begin(), own.pairs.end());
        counts.push_back(own.source.sentences);
      }
      EXPECT_EQ(together, expected.pairs);
      const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
      EXPECT_LE(*most - *fewest, 1);
      EXPECT_EQ(*fewest, expected.source.sentences / 4) << "none, if there are fewer sentences than ranks";
    }
    for (PairBatches& rank : ranks) EXPECT_EQ(rank.position(), whole.length());
  }
}

TEST(PairBatches, ReversedSourceKeepsItsEndLast) {
  Pairs pairs;
  add(pairs, {1, 2, 3}, {5, 6});
  add(pairs, {4}, {5});
  add(pairs, {}, {});
  PairBatches batches({.order = {.batch = 3}, .reverse_source = true}, pairs, 1);
  batches.seek(0, 0);
  PairBatch batch;
  ASSERT_TRUE(batches.next(batch));
  EXPECT_EQ(batch.source.ids, (Ids{3, 4, 7,  //
                                   2, 7, 0,  //
                                   1, 0, 0,  //
                                   7, 0, 0}));
  EXPECT_EQ(batch.target.targets[0], 5) << "the target is not reversed";
  EXPECT_EQ(batch.target.targets[3], 6);
}

TEST(PairBatches, EachPairIsReadOnceInEveryEpoch) {
  const Pairs pairs = many_pairs(1037);
  for (const BatchBy by : {BatchBy::sentences, BatchBy::symbols}) {
    PairBatches batches({.order = {.batch = by == BatchBy::sentences ? 4 : 60, .by = by}}, pairs, 3);
    std::set<Numbers> orders;
    for (const std::int64_t epoch : {0, 1, 2, 3}) {
      const std::vector<PairBatch> all = epoch_of(batches, epoch);
      EXPECT_EQ(std::ssize(all), batches.length());
      std::int64_t scored = 0;
      for (const PairBatch& batch : all) {
        scored += batch.scored;
        for (std::size_t b = 0; b < batch.pairs.size(); ++b)
          ASSERT_EQ(batch.source.ids[b], 100 + batch.pairs[b]) << "each row says which pair it is";
      }
      EXPECT_EQ(scored, pairs.target.symbols());
      Numbers order = order_of(all);
      orders.insert(order);
      std::ranges::sort(order);
      EXPECT_EQ(order, first_numbers(1037));
    }
    EXPECT_EQ(orders.size(), 4u) << "a new order in each epoch";
  }
}

TEST(PairBatches, BothSidesCountWhereMemoryIsLimited) {
  const Pairs pairs = many_pairs(500);  // sides of up to 29 symbols
  constexpr std::int64_t limit = 100;
  PairBatches batches({.order = {.batch = limit, .by = BatchBy::symbols, .both_sides = true}}, pairs, 1);
  for (const std::int64_t epoch : {0, 1}) {
    const std::vector<PairBatch> all = epoch_of(batches, epoch);
    std::int64_t largest = 0;
    for (const PairBatch& batch : all)
      largest = std::max(largest, (batch.source.steps + batch.target.steps) * batch.source.sentences);
    EXPECT_LE(largest, limit);
    EXPECT_GT(largest, limit * 9 / 10);
    Numbers order = order_of(all);
    std::ranges::sort(order);
    EXPECT_EQ(order, first_numbers(500));
  }
  PairBatches narrow({.order = {.batch = 1, .by = BatchBy::symbols, .both_sides = true}}, pairs, 1);
  for (const PairBatch& batch : epoch_of(narrow, 0)) EXPECT_EQ(batch.source.sentences, 1);
}

TEST(PairBatches, SeedAndEpochDetermineTheOrder) {
  const Pairs pairs = many_pairs(200);
  const auto order = [&](std::uint64_t seed, std::int64_t epoch) {
    PairBatches batches({.order = {.batch = 4}}, pairs, seed);
    return order_of(epoch_of(batches, epoch));
  };
  EXPECT_EQ(order(5, 2), order(5, 2));
  EXPECT_NE(order(5, 2), order(6, 2));
  EXPECT_EQ(order(5, 0), order(6, 0)) << "no seed in the fixed order";
  PairBatches begun({.order = {.batch = 4}}, pairs, 5);
  EXPECT_EQ(order_of(rest_of_epoch(begun)), order(5, 1)) << "it begins with epoch 1";
}

TEST(PairBatches, SeekResumesInMidEpoch) {
  const Pairs pairs = many_pairs(300);
  for (const BatchBy by : {BatchBy::sentences, BatchBy::symbols}) {
    const PairBatchOptions options{.order = {.batch = 40, .by = by}, .reverse_source = true};
    PairBatches whole(options, pairs, 8), resumed(options, pairs, 8);
    whole.seek(2, 0);
    PairBatch batch;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(whole.next(batch));
    EXPECT_EQ(whole.position(), 3);
    resumed.seek(2, 3);
    const std::vector<PairBatch> expected = rest_of_epoch(whole), actual = rest_of_epoch(resumed);
    ASSERT_EQ(actual.size(), expected.size());
    ASSERT_GT(actual.size(), 3u);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(actual[i].pairs, expected[i].pairs);
      EXPECT_EQ(actual[i].source.ids, expected[i].source.ids);
      EXPECT_EQ(actual[i].target.targets, expected[i].target.targets);
    }
  }
}

TEST(PairBatches, OtherPairsAreTogetherInEachEpoch) {
  const Pairs pairs = many_pairs(650);  // no two are of the same lengths: one pool would have one order
  for (const PairBatchOptions& options :
       {PairBatchOptions{.order = {.batch = 4}}, {.order = {.batch = 50, .by = BatchBy::symbols}}}) {
    PairBatches batches(options, pairs, 1);
    const auto groups = [&](std::int64_t epoch) {
      std::set<Numbers> sets;
      for (const PairBatch& batch : epoch_of(batches, epoch))
        if (batch.source.sentences > 3) sets.insert(batch.pairs);  // by symbols, some have one pair
      return sets;
    };
    const std::set<Numbers> one = groups(1), two = groups(2);
    ASSERT_GT(one.size(), 30u);
    const auto again = std::ranges::count_if(one, [&](const Numbers& it) { return two.contains(it); });
    EXPECT_LT(again, std::ssize(one) / 10);
  }
}

TEST(PairBatches, EpochZeroIsSortedByLength) {
  const Pairs pairs = many_pairs(1000);
  PairBatches batches({.order = {.batch = 3}}, pairs, 1);
  const Numbers order = order_of(epoch_of(batches, 0));
  const auto key = [&](std::int64_t pair) {  // the longest target, then the longest source, then the first
    return std::tuple(-pairs.target.length(pair), -pairs.source.length(pair), pair);
  };
  for (std::size_t i = 1; i < order.size(); ++i) ASSERT_LT(key(order[i - 1]), key(order[i]));
}

TEST(PairBatches, BySymbolsNoBatchIsLargerThanTheLimit) {
  Pairs pairs = many_pairs(500);  // targets of up to 29 symbols
  add(pairs, {1000}, Ids(69, 2));
  PairBatches batches({.order = {.batch = 60, .by = BatchBy::symbols}}, pairs, 1);
  for (const std::int64_t epoch : {0, 1}) {
    std::int64_t too_long = 0;
    const std::vector<PairBatch> all = epoch_of(batches, epoch);
    for (const PairBatch& batch : all) {
      if (batch.target.steps * batch.source.sentences <= 60) continue;
      ++too_long;
      EXPECT_EQ(batch.pairs, (Numbers{500})) << "alone in its batch";
    }
    EXPECT_EQ(too_long, 1);
    EXPECT_LT(padded_symbols(all), pairs.target.symbols() * 11 / 10);
    EXPECT_LT(std::ssize(all), pairs.target.symbols() / 40) << "batches are as large as the limit allows";
  }
}

TEST(PairBatches, RefuseWhatTheyCannotBatch) {
  Pairs pairs = many_pairs(10);
  expect_input_error([&] { PairBatches({.order = {.batch = 0}}, pairs, 1); }, "batch = 0");
  expect_input_error([] { PairBatches({}, Pairs(), 1); }, "no sentences");
  PairBatches batches({.order = {.batch = 3}}, pairs, 1);
  EXPECT_EQ(any_error_of([&] { batches.seek(1, 5); }),
            "[sentence batches] a position from 0 to 4 was expected: 5");
  EXPECT_NO_THROW(batches.seek(1, 4));
  PairBatch batch;
  EXPECT_FALSE(batches.next(batch)) << "the end of the epoch";
  EXPECT_EQ(any_error_of([&] { pairs.source.add({}); }),
            "[sentences] a sentence has at least its end symbol");
  EXPECT_EQ(any_error_of([] { padded({std::span<const std::int32_t>()}); }),
            "[sentence batches] a sentence has at least its end symbol");
}

}  // namespace
}  // namespace rondo
