// Pairs of lines from the text of one language: data/sentences/parallel_text.h.
#include <gtest/gtest.h>

#include "data/sentences/pairs.h"
#include "data/sentences/parallel_text.h"
#include "tests/data/files.h"

namespace rondo {
namespace {

TextPair pairs_of(const std::string& content, PairsOf pairs) {
  return pairs_of_text({.name = "a.en", .content = content, .sha256 = {}, .notes = {}}, pairs);
}

TEST(LinePairs, AreTwiceTheSameLine) {
  const TextPair pairs = pairs_of("a b\n\nc\n", PairsOf::lines);
  EXPECT_EQ(pairs.source.content, "a b\n\nc\n");
  EXPECT_EQ(pairs.target.content, pairs.source.content);
  EXPECT_FALSE(pairs.has_gaps) << "an empty line is copied, too";
}

TEST(LinePairs, AreHalvesWithTheMiddleWordInTheFirst) {
  const TextPair pairs = pairs_of("a b c d\na b c\na b\na b c d e\n", PairsOf::halves);
  EXPECT_EQ(pairs.source.content, "a b\na b\na\na b c\n");
  EXPECT_EQ(pairs.target.content, "c d\nc\nb\nd e\n");
  EXPECT_TRUE(pairs.has_gaps);
}

TEST(LinePairs, OfFewerThanTwoWordsHaveNoSecondHalf) {
  const TextPair pairs = pairs_of("a\na b\n\n  \n a \n", PairsOf::halves);
  EXPECT_EQ(pairs.source.content, "a\na\n\n  \n a \n");
  EXPECT_EQ(pairs.target.content, "\nb\n\n\n\n");
  EXPECT_EQ(pairs.lines, 5) << "so that messages have the numbers of lines of the file";
  expect_input_error([] { pairs_of("a\n\nb\n", PairsOf::halves); }, "a.en: no line has two words");
}

TEST(LinePairs, LoseTheSpaceBetweenHalvesAndNoOther) {
  const TextPair pairs = pairs_of("  a  b \t c\vd \n", PairsOf::halves);
  EXPECT_EQ(pairs.source.content, "  a  b\n");
  EXPECT_EQ(pairs.target.content, "c\vd \n");
}

TEST(LinePairs, AreALineAndTheNextOneOfThePassage) {
  const TextPair pairs = pairs_of("a b\nc\nd d\n\n \ne\nf", PairsOf::next_lines);
  EXPECT_EQ(pairs.source.content, "a b\nc\nd d\n\n \ne\nf\n");
  EXPECT_EQ(pairs.target.content, "c\nd d\n\n\n\nf\n\n");
  EXPECT_TRUE(pairs.has_gaps);
  expect_input_error([] { pairs_of("a\n\nb\n", PairsOf::next_lines); }, "a.en: no line is followed");
}

// In evaluations, too, where the pairs of a translation are all kept; and in any unit.
TEST(LinePairs, WithoutATargetAreNoPairs) {
  for (const Unit unit : {Unit::words, Unit::characters, Unit::bytes})
    for (const auto& [pairs, kept, empty] :
         {std::tuple{PairsOf::halves, 2, 3}, {PairsOf::next_lines, 1, 4}}) {
      const TextPair texts = pairs_of("a b c\nb\n \n\na b\n", pairs);
      const Vocabulary vocabulary(texts.source, {unit}, {});
      for (const Pairs& it :
           {encode_pairs(texts, vocabulary, vocabulary), training_pairs(texts, vocabulary, vocabulary, 0)}) {
        EXPECT_EQ(it.size(), kept);
        EXPECT_EQ(it.empty, empty);
        EXPECT_GT(it.target.length(0), 1);
      }
    }
}

}  // namespace
}  // namespace rondo
