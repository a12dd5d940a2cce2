// Pairs of sentences as ids: data/sentences/pairs.h.
#include "data/sentences/pairs.h"

#include <gtest/gtest.h>

#include "tests/data/files.h"

namespace rondo {
namespace {

using Ids = std::vector<std::int32_t>;

Ids ids_of(std::span<const std::int32_t> sentence) { return {sentence.begin(), sentence.end()}; }

Text text_of(const std::string& name, const std::string& content) {
  return {.name = name, .content = content, .sha256 = {}, .notes = {}};
}
TextPair texts(const std::string& source, const std::string& target) {
  return {text_of("a.de", source), text_of("a.en", target)};
}
PairVocabularies separate(const TextPair& train, Tokenization tokenization = {}) {
  return vocabularies_of(train, tokenization, {}, false);
}

TEST(Pairs, EachLineIsASentenceWithItsEnd) {
  const TextPair train = texts("a b\n\nb\n", "x\ny x\n\n");
  const PairVocabularies vocabularies = separate(train);  // a b <eos> <unk>, x <eos> y <unk>
  const Pairs pairs = encode_pairs(train, vocabularies.source, vocabularies.target);
  ASSERT_EQ(pairs.size(), 3);
  EXPECT_EQ(ids_of(pairs.source[0]), (Ids{0, 1, 2}));
  EXPECT_EQ(ids_of(pairs.source[1]), (Ids{2})) << "an empty line";
  EXPECT_EQ(ids_of(pairs.source[2]), (Ids{1, 2}));
  EXPECT_EQ(ids_of(pairs.target[0]), (Ids{0, 1}));
  EXPECT_EQ(ids_of(pairs.target[1]), (Ids{2, 0, 1}));
  EXPECT_EQ(ids_of(pairs.target[2]), (Ids{1}));
  EXPECT_EQ(pairs.source.symbols(), 6);
  EXPECT_EQ(pairs.target.length(1), 3);
  EXPECT_EQ(pairs.left_out, 0);

  const Pairs other = encode_pairs(texts("c a\n", "y z\n"), vocabularies.source, vocabularies.target);
  EXPECT_EQ(ids_of(other.source[0]), (Ids{3, 0, 2}));
  EXPECT_EQ(other.source.count(3), 1) << "unknown";
  EXPECT_EQ(other.target.count(3), 1);
  EXPECT_EQ(other.target.count(0), 0);
}

TEST(Pairs, CharactersAndBytesEndInNewlines) {
  for (const Unit unit : {Unit::characters, Unit::bytes}) {
    const TextPair train = texts("ab\n\n b", "x\ny\nz");
    const auto [source, target] = separate(train, {unit});
    const Pairs pairs = encode_pairs(train, source, target);
    ASSERT_EQ(pairs.size(), 3);
    EXPECT_EQ(ids_of(pairs.source[0]), (Ids{0, 1, 2}));
    EXPECT_EQ(ids_of(pairs.source[1]), (Ids{2}));
    EXPECT_EQ(ids_of(pairs.source[2]), (Ids{3, 1, 2})) << "a last line without a newline has its end, too";
    EXPECT_EQ(ids_of(pairs.target[2]), (Ids{3, 1}));
  }
  const TextPair train = texts(" ab\n", "x\n");
  const auto [source, target] = separate(train, {Unit::characters, true});
  EXPECT_EQ(ids_of(encode_pairs(train, source, target).source[0]), (Ids{0, 1, 2}));
}

TEST(Pairs, LongPairsAreLeftOutAndCounted) {
  const TextPair train = texts("a a\na a a\na\na a\n", "b\nb\nb b b\nb b\n");
  const PairVocabularies vocabularies = separate(train);
  const Pairs two = encode_pairs(train, vocabularies.source, vocabularies.target, 2);
  ASSERT_EQ(two.size(), 2) << "the ends do not count";
  EXPECT_EQ(two.left_out, 2) << "one for each side";
  EXPECT_EQ(ids_of(two.source[0]), (Ids{0, 0, 1}));
  EXPECT_EQ(ids_of(two.target[0]), (Ids{0, 1}));
  EXPECT_EQ(ids_of(two.target[1]), (Ids{0, 0, 1}));
  EXPECT_EQ(two.target.symbols(), 5);
  EXPECT_EQ(encode_pairs(train, vocabularies.source, vocabularies.target, 3).left_out, 0);
  EXPECT_EQ(encode_pairs(train, vocabularies.source, vocabularies.target, 0).size(), 4) << "no limit";
  expect_input_error([&] { encode_pairs(train, vocabularies.source, vocabularies.target, 1); },
                     "a.de and a.en", "no pair is left: 4 have", "max_length = 1");
}

TEST(Pairs, ThoseWithAnEmptySideAreNotTrainedOn) {
  const TextPair train = texts("a\n\nb b\n \nb\n", "x\ny\n\n\ny y y\n");
  const PairVocabularies vocabularies = separate(train);
  const Pairs pairs = encode_pairs(train, vocabularies.source, vocabularies.target, 2, true);
  ASSERT_EQ(pairs.size(), 1);
  EXPECT_EQ(ids_of(pairs.source[0]), (Ids{0, 1}));
  EXPECT_EQ(ids_of(pairs.target[0]), (Ids{0, 1}));
  EXPECT_EQ(pairs.empty, 3);
  EXPECT_EQ(pairs.left_out, 1) << "the long one";
  EXPECT_EQ(encode_pairs(train, vocabularies.source, vocabularies.target, 0, true).size(), 2);
  expect_input_error(
      [&] { encode_pairs(texts("\na\n", "x\n\n"), vocabularies.source, vocabularies.target, 0, true); },
      "a.de and a.en", "no pair is left", "2 an empty side");
  expect_input_error(
      [&] { encode_pairs(texts("a a\na\n", "x\n\n"), vocabularies.source, vocabularies.target, 1, true); },
      "a.de and a.en",
      "no pair is left: 1 have more symbols than max_length = 1 (0: no limit), 1 an empty side");
}

TEST(Pairs, SharedVocabularyHasTheSymbolsOfBothSides) {
  const TextPair train = texts("a b c a\n", "b d\n");
  const auto [source, target] = vocabularies_of(train, {}, {}, true);
  EXPECT_EQ(source.to_text(), "a\nb\nc\n<eos>\nd\n<unk>\n");
  EXPECT_EQ(target.to_text(), source.to_text());

  // b occurs twice in all. Only the target has a rare symbol besides c: then <unk> is trained, too.
  const TextPair rare = texts("a b a\n", "b d\n");
  const PairVocabularies limited = vocabularies_of(rare, {}, {.min_count = 2}, true);
  EXPECT_EQ(limited.target.to_text(), "<unk>\na\nb\n<eos>\n");
  EXPECT_TRUE(limited.target.unknown_is_trained());
  EXPECT_EQ(vocabularies_of(rare, {}, {.min_count = 2}, false).target.to_text(), "<unk>\n<eos>\n");
}

TEST(Pairs, AWordThatEndsALineIsRefused) {
  const TextPair train = texts("a\nb\n", "x\ny\n");
  const PairVocabularies vocabularies = separate(train);
  const std::string part = "the word <eos> stands for the end of a line";
  expect_input_error([&] { encode_sentences("a\nb <eos>\na\n", "typed", vocabularies.source); },
                     "typed: line 2: " + part);
  expect_input_error([&] { encode_sentences("<eos>\n", "typed", vocabularies.source); },
                     "typed: line 1: " + part);
  EXPECT_EQ(encode_sentences("a<eos>\n", "typed", vocabularies.source).size(), 1) << "part of a word";
}

TEST(Pairs, SentencesOfAUser) {
  const TextPair train = texts("a\nb\n", "x\ny\n");
  const Vocabulary words = separate(train).source, bytes = separate(train, {Unit::bytes}).source;
  EXPECT_EQ(ids_of(encode_sentences("b a", "typed", words)[0]), (Ids{2, 0, 1}));
  EXPECT_EQ(ids_of(encode_sentences("b", "typed", bytes)[0]), (Ids{2, 1}));
  EXPECT_EQ(encode_sentences("", "typed", bytes).size(), 0) << "no line";
  EXPECT_EQ(ids_of(encode_sentences("\n", "typed", bytes)[0]), (Ids{1}));

  Vocabulary endless(Tokenization{Unit::bytes});
  endless.add("a");
  endless.add("<unk>");
  expect_input_error([&] { encode_sentences("a\n", "typed", endless); }, "no symbol for the end of a line");
}

}  // namespace
}  // namespace rondo
