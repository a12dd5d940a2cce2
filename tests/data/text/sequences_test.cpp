// Lines and crops from a zero state: data/text/streams.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "data/text/streams.h"
#include "tests/data/files.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Ids = std::vector<std::int32_t>;

/// A row of a chunk: its inputs and targets up to the padding, which must be nothing but that.
struct Row {
  Ids inputs, targets;
  bool operator<(const Row& other) const { return targets < other.targets; }
};
std::vector<Row> rows_of(const Chunk& chunk) {
  std::vector<Row> rows;
  std::int64_t scored = 0;
  for (std::int64_t b = 0; b < chunk.streams; ++b) {
    Row row;
    bool over = false;
    for (std::int64_t t = 0; t < chunk.steps; ++t) {
      const auto place = static_cast<std::size_t>(t * chunk.streams + b);
      if (chunk.targets[place] == Chunk::ignore_index) {
        over = true;
        EXPECT_EQ(chunk.inputs[place], 0);
        continue;
      }
      EXPECT_FALSE(over) << "padding comes last";
      row.inputs.push_back(chunk.inputs[place]);
      row.targets.push_back(chunk.targets[place]);
      ++scored;
    }
    EXPECT_EQ(chunk.lengths.at(static_cast<std::size_t>(b)), std::ssize(row.targets));
    rows.push_back(row);
  }
  EXPECT_EQ(chunk.scored, scored);
  EXPECT_EQ(std::ssize(chunk.lengths), chunk.streams);
  return rows;
}

std::vector<Row> all_rows(Sequences& sequences) {
  std::vector<Row> rows;
  Chunk chunk;
  while (sequences.next(chunk))
    for (const Row& row : rows_of(chunk))
      if (!row.targets.empty()) rows.push_back(row);
  return rows;
}

constexpr std::int32_t end = 9;

TEST(Sequences, LinesArePaddedToTheLongest) {
  const Ids ids = {1, 2, end, 3, end, end, 4, 5, 6, 7};  // the last one has no end
  Sequences lines = Sequences::lines(ids, end, 3);
  EXPECT_EQ(lines.length(), 2);
  EXPECT_EQ(lines.scored(), 10);
  Chunk chunk;
  ASSERT_TRUE(lines.next(chunk));
  EXPECT_EQ(chunk.steps, 3);
  EXPECT_EQ(chunk.streams, 3);
  std::vector<Row> rows = rows_of(chunk);
  EXPECT_EQ(rows[0].inputs, (Ids{end, 1, 2})) << "the first line begins behind an end as well";
  EXPECT_EQ(rows[0].targets, (Ids{1, 2, end}));
  EXPECT_EQ(rows[1].inputs, (Ids{end, 3}));
  EXPECT_EQ(rows[2].inputs, (Ids{end}));
  EXPECT_EQ(rows[2].targets, (Ids{end})) << "an empty line";
  ASSERT_TRUE(lines.next(chunk));
  EXPECT_EQ(chunk.streams, 3) << "rows without a line are padding";
  rows = rows_of(chunk);
  EXPECT_EQ(rows[0].inputs, (Ids{end, 4, 5, 6}));
  EXPECT_EQ(rows[0].targets, (Ids{4, 5, 6, 7}));
  EXPECT_TRUE(rows[1].targets.empty());
  EXPECT_FALSE(lines.next(chunk));
}

TEST(Sequences, AnEpochShufflesLinesAndReadsEachOnce) {
  Ids ids;
  for (std::int32_t line = 10; line < 60; ++line) ids.insert(ids.end(), {line, end});
  Sequences lines = Sequences::lines(ids, end, 4);
  const auto order = [&](std::int64_t epoch) {
    lines.seek(1, epoch, 0);
    Ids first;
    for (const Row& row : all_rows(lines)) first.push_back(row.targets[0]);
    return first;
  };
  const Ids text = order(0), one = order(1), two = order(2);
  EXPECT_TRUE(std::ranges::is_sorted(text));
  EXPECT_NE(one, text);
  EXPECT_NE(one, two);
  EXPECT_EQ(order(1), one) << "a function of the epoch";
  for (const Ids& it : {one, two}) EXPECT_EQ(std::set(it.begin(), it.end()).size(), 50u);
}

TEST(Sequences, SeekGoesOnWhereAnEpochWasLeft) {
  Ids ids(100);
  std::iota(ids.begin(), ids.end(), 0);
  Sequences whole = Sequences::crops(ids, 7, 3), resumed = whole;
  whole.seek(5, 2, 0);
  Chunk expected, actual;
  whole.next(expected);
  whole.next(expected);
  EXPECT_EQ(whole.position(), 2);
  resumed.seek(5, 2, 2);
  ASSERT_TRUE(whole.next(expected));
  ASSERT_TRUE(resumed.next(actual));
  EXPECT_EQ(actual.targets, expected.targets);
  EXPECT_EQ(any_error_of([&] { resumed.seek(5, 2, 9); }),
            "[sequences] a position from 0 to 5 was expected: 9");
}

TEST(Sequences, CropsLieBehindOneAnotherFromARandomOffset) {
  Ids ids(100);
  std::iota(ids.begin(), ids.end(), 0);
  Sequences crops = Sequences::crops(ids, 7, 3);
  EXPECT_EQ(crops.scored(), 13 * 7);
  std::set<std::int32_t> offsets;
  for (std::int64_t epoch = 1; epoch < 60; ++epoch) {
    crops.seek(1, epoch, 0);
    std::vector<Row> rows = all_rows(crops);
    ASSERT_EQ(rows.size(), 13u);
    std::sort(rows.begin(), rows.end());
    offsets.insert(rows[0].inputs[0]);
    std::int32_t next = rows[0].inputs[0];
    for (const Row& row : rows)
      for (std::size_t t = 0; t < 7; ++t, ++next) {
        ASSERT_EQ(row.inputs[t], next);
        ASSERT_EQ(row.targets[t], next + 1);
      }
  }
  EXPECT_EQ(offsets, (std::set<std::int32_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Sequences, SequencesCoverTheTextOnce) {
  const Ids ids = {0, 1, 2, 3, 4, 5, 6, 7};  // 7 targets
  Sequences sequences = Sequences::fixed(ids, 3, 2);
  EXPECT_EQ(sequences.scored(), 7);
  const std::vector<Row> rows = all_rows(sequences);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].inputs, (Ids{0, 1, 2}));
  EXPECT_EQ(rows[0].targets, (Ids{1, 2, 3}));
  EXPECT_EQ(rows[1].inputs, (Ids{3, 4, 5})) << "the symbol before a sequence is its context";
  EXPECT_EQ(rows[2].targets, (Ids{7}));
}

TEST(Sequences, PiecesHaveAllTargetsAndLittlePadding) {
  const Ids ids = {1, end, 2, 2, 2, 2, end, end, 3, 3, end};  // lines of 2, 5, 1 and 3 symbols
  Sequences lines = Sequences::lines(ids, end, 5);            // and a row too many
  Chunk chunk;
  ASSERT_TRUE(lines.next(chunk));
  const std::vector<Row> whole = rows_of(chunk);
  const std::vector<Chunk> pieces = pieces_without_padding(chunk, 2);
  ASSERT_EQ(pieces.size(), 3u);
  const std::vector<std::int64_t> streams = {4, 2, 1}, steps = {2, 2, 1}, scored = {7, 3, 1};
  std::vector<Row> joined(5);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pieces[i].streams, streams[i]);
    EXPECT_EQ(pieces[i].steps, steps[i]);
    EXPECT_EQ(pieces[i].scored, scored[i]);
    EXPECT_EQ(pieces[i].from_zero_state, i == 0);
    const std::vector<Row> rows = rows_of(pieces[i]);
    for (std::size_t b = 0; b < rows.size(); ++b) {
      joined[b].inputs.insert(joined[b].inputs.end(), rows[b].inputs.begin(), rows[b].inputs.end());
      joined[b].targets.insert(joined[b].targets.end(), rows[b].targets.begin(), rows[b].targets.end());
    }
  }
  for (std::size_t b = 0; b < 5; ++b) {
    EXPECT_EQ(joined[b].inputs, whole[b].inputs);
    EXPECT_EQ(joined[b].targets, whole[b].targets);
  }
}

TEST(Sequences, RefuseWhatIsTooShort) {
  const Ids ids = {1, 2, 3, 4};
  EXPECT_EQ(any_error_of([&] { Sequences::crops(ids, 2, 3); }),
            "crops of 2 symbols need a text of more than 4, and it has 4");
  EXPECT_EQ(any_error_of([&] { Sequences::lines(ids, end, 0); }), "a batch of 0: 1 or more are needed");
  EXPECT_EQ(any_error_of([&] { Sequences::lines({}, end, 1); }), "the text has no symbol");
}

}  // namespace
}  // namespace rondo
