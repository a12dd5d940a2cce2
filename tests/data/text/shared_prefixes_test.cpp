// Sequences side by side, beside each of them alone: data/text/streams.h.
#include <algorithm>
#include <random>
#include <set>

#include "data/text/streams.h"
#include "tests/data/files.h"

namespace rondo {
namespace {

using Line = std::vector<std::int32_t>;

/// Reads `lines`, which are ordered by length: each is scored as if it were alone, and each beginning once.
void expect_each_read(const std::vector<Line>& lines, std::int64_t rows) {
  SharedPrefixes prefixes({lines.begin(), lines.end()}, rows);
  std::vector<Line> read(lines.size());       // inputs and targets of each line, in turn
  std::vector<Line> history, history_before;  // all inputs of each stream: what its state would be made of
  std::int64_t scored = 0;
  bool is_first = true;
  for (SharedPrefixes::Piece piece; prefixes.next(piece); is_first = false) {
    const Chunk& chunk = piece.chunk;
    EXPECT_EQ(chunk.from_zero_state, is_first);
    EXPECT_LE(chunk.steps * chunk.streams, std::max(rows, std::ssize(lines)));
    ASSERT_EQ(std::ssize(piece.continues), chunk.streams);
    history_before = std::exchange(history, {});
    std::int64_t in_piece = 0;
    for (std::int64_t b = 0; b < chunk.streams; ++b) {
      const auto stream = static_cast<std::size_t>(b);
      history.push_back(is_first ? Line()
                                 : history_before.at(static_cast<std::size_t>(piece.continues[stream])));
      for (std::int64_t t = 0; t < chunk.steps; ++t) {
        const auto at = static_cast<std::size_t>(t * chunk.streams + b);
        const bool is_scored = t < chunk.lengths[stream];
        EXPECT_EQ(chunk.targets[at] != Chunk::ignore_index, is_scored);
        in_piece += is_scored;
        history.back().push_back(chunk.inputs[at]);
      }
    }
    EXPECT_EQ(chunk.scored, in_piece);
    scored += in_piece;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto stream = static_cast<std::size_t>(prefixes.stream(i));
      for (std::int64_t t = 0; t < prefixes.steps(i); ++t)
        read[i].push_back(chunk.targets.at(static_cast<std::size_t>(t * chunk.streams) + stream));
      if (prefixes.steps(i) == 0) continue;
      const std::size_t inputs = read[i].size();
      EXPECT_TRUE(std::equal(lines[i].begin(), lines[i].begin() + static_cast<std::ptrdiff_t>(inputs),
                             history[stream].begin()))
          << "the state is that of another beginning";
    }
  }
  std::set<Line> beginnings;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(read[i], lines[i].empty() ? Line() : Line(lines[i].begin() + 1, lines[i].end()));
    for (std::size_t length = 2; length <= lines[i].size(); ++length)
      beginnings.emplace(lines[i].begin(), lines[i].begin() + static_cast<std::ptrdiff_t>(length));
  }
  EXPECT_EQ(scored, std::ssize(beginnings));
}

TEST(SharedPrefixes, EachLineAsIfAlone) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t length = 1 + random() % 30;
    const std::int32_t symbols = i % 3 == 0 ? 50 : 2;
    std::vector<Line> lines(random() % 12);
    for (Line& line : lines) {
      if (&line != &lines.front() && random() % 2 == 0) line = (&line)[-1];  // much in common
      line.resize(random() % length, 1);
      if (!line.empty())
        line[random() % line.size()] = static_cast<std::int32_t>(random() % static_cast<unsigned>(symbols));
    }
    std::ranges::stable_sort(lines, [](const Line& a, const Line& b) { return a.size() > b.size(); });
    for (const std::int64_t rows : {1, 7, 1000}) expect_each_read(lines, rows);
  }
}

TEST(SharedPrefixes, ALongLineIsReadInLongParts) {
  Line line(2000);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<std::int32_t>(i);
  const std::vector<Line> lines{line, {0, 1, 2}, {0, 7}};
  expect_each_read(lines, 512);
  SharedPrefixes prefixes({lines.begin(), lines.end()}, 512);
  int pieces = 0;
  for (SharedPrefixes::Piece piece; prefixes.next(piece);) ++pieces;
  EXPECT_LE(pieces, 7);
}

}  // namespace
}  // namespace rondo
