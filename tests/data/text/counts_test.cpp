// The loader against published corpora: lines, tokens and types must come out to the last one. What is not
// there is skipped: tests/data/files.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "data/text/corpus.h"
#include "tests/data/files.h"

namespace rondo {
namespace {

struct Expected {
  const char* folder;
  Tokenization tokenization;
  std::array<std::int64_t, 3> symbols;  // of train, valid, test; the end of a line is one
  std::array<std::int64_t, 3> lines;    // ends of lines among them
  std::int64_t types;                   // of the training text
  bool unknown_is_trained;
};

void expect_counts(const Expected& expected) {
  const auto folder = corpus_folder(expected.folder);
  if (!has_corpus(folder)) GTEST_SKIP() << folder << " is not there: set RONDO_DATA";

  const CorpusText text = open_corpus(folder, expected.tokenization.unit);
  EXPECT_TRUE(text.notes.empty());
  const Vocabulary vocabulary(text.train, expected.tokenization);
  EXPECT_EQ(vocabulary.types(), expected.types);
  EXPECT_EQ(vocabulary.unknown_is_trained(), expected.unknown_is_trained);
  EXPECT_EQ(vocabulary.size(), expected.types + (expected.unknown_is_trained ? 0 : 1));

  for (const Split split : {Split::train, Split::valid, Split::test}) {
    const TextIds ids = encode_text(text.at(split), vocabulary).ids;
    const auto place = static_cast<std::size_t>(split);
    EXPECT_EQ(static_cast<std::int64_t>(ids.size()), expected.symbols[place]) << name_of(split);
    const auto line_end = vocabulary.line_end_id();
    EXPECT_EQ(line_end ? std::count(ids.begin(), ids.end(), *line_end) : 0, expected.lines[place])
        << name_of(split);
    EXPECT_TRUE(vocabulary.encode(text.at(split)).missing.empty())
        << name_of(split);  // true of these corpora
  }
}

TEST(Counts, PennTreebankWords) {
  expect_counts({"ptb", {Unit::words}, {929'589, 73'760, 82'430}, {42'068, 3'370, 3'761}, 10'000, true});
}

TEST(Counts, PennTreebankCharacters) {
  expect_counts(
      {"ptb", {Unit::characters, true}, {5'017'482, 393'042, 442'423}, {42'068, 3'370, 3'761}, 50, false});
}

TEST(Counts, WikiText2) {
  expect_counts(
      {"wikitext-2", {Unit::words}, {2'088'628, 217'646, 245'569}, {36'718, 3'760, 4'358}, 33'278, true});
}

TEST(Counts, Text8) {
  expect_counts({"text8-12m", {Unit::characters}, {11'294'853, 627'492, 627'492}, {0, 0, 0}, 27, false});
}

}  // namespace
}  // namespace rondo
