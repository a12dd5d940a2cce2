// Pieces of words: data/text/pieces.h. Without sentencepiece only the refusal is tested.
#include "data/text/pieces.h"

#include <gtest/gtest.h>

#include <random>

#include "data/sentences/pairs.h"
#include "data/text/unicode.h"
#include "data/text/vocabulary.h"
#include "tests/data/files.h"

namespace rondo {
namespace {

TEST(Pieces, WithoutTheLibraryAreRefused) {
  if (has_sentencepiece()) GTEST_SKIP() << "built with sentencepiece";
  const Text text = clean_text("the cat\n", "f.txt", Unit::pieces);
  expect_input_error([&] { Vocabulary(text, {.unit = Unit::pieces}); }, "libsentencepiece-dev");
  const Vocabulary stored = Vocabulary::from_text("a\n\\n\n", "vocab.txt", {.unit = Unit::pieces});
  EXPECT_EQ(stored.size(), 2) << "what only needs the symbols works";
  expect_input_error([&] { stored.encode("a\n", "f.txt"); }, "libsentencepiece-dev");
}

TEST(Pieces, AWordGoesToTheNextSpace) {
  EXPECT_EQ(word_length("the cat", 0), 3u);
  EXPECT_EQ(word_length("the cat", 3), 4u);
  EXPECT_EQ(word_length("a  b", 1), 1u);
  EXPECT_EQ(word_length(std::string(1000, 'x'), 0), 256u);
  EXPECT_EQ(word_length(std::string(255, 'x') + "\xc3\xa9\xc3\xa9", 0), 257u) << "no character is cut";
}

class PiecesTest : public testing::TestWithParam<PieceModelKind> {
 protected:
  void SetUp() override {
    if (!has_sentencepiece()) GTEST_SKIP() << "built without sentencepiece";
  }

  static Tokenization pieces(std::int64_t count = 320) {
    return {.unit = Unit::pieces, .pieces_model = GetParam(), .pieces = count};
  }
  /// Sentences of two frequent words and many words of a few syllables.
  static Text text() {
    const std::vector<std::string> syllables{"ka", "mo", "sti", "ren", "grü", "lo", "pa", "ent", "ße", "un"};
    std::mt19937 random(1);
    std::string content;
    for (int line = 0; line < 400; ++line) {
      for (int word = 0; word < 6; ++word) {
        const auto kind = random() % 6;
        content += kind == 0 ? "the" : kind == 1 ? "cat" : "";
        if (kind > 1)
          for (auto i = 1 + random() % 4; i > 0; --i) content += syllables[random() % syllables.size()];
        content += word < 5 ? ' ' : '\n';
      }
    }
    return clean_text(content, "train.txt", Unit::pieces);
  }
  static std::vector<std::string> symbols_of(const Vocabulary& vocabulary, const std::string& line) {
    std::vector<std::string> symbols;
    for (const std::int32_t id : vocabulary.encode(line, "line").ids)
      symbols.push_back(vocabulary.symbol(id));
    return symbols;
  }
};

TEST_P(PiecesTest, FrequentWordsAreOneSymbolAtAnyPlace) {
  const Vocabulary vocabulary(text(), pieces());
  EXPECT_EQ(vocabulary.size(), 320);
  EXPECT_EQ(vocabulary.types(), 320);
  EXPECT_EQ(vocabulary.unknown_id(), std::nullopt);
  EXPECT_EQ(symbols_of(vocabulary, "the cat the\n"),
            (std::vector<std::string>{" the", " cat", " the", "\n"}));
  EXPECT_EQ(symbols_of(vocabulary, "\n"), (std::vector<std::string>{"\n"}));
  EXPECT_EQ(symbols_of(vocabulary, "\xe2\x82\xac"), (std::vector<std::string>{" ", "\xe2", "\x82", "\xac"}))
      << "a character that the text does not have is written in bytes";
}

TEST_P(PiecesTest, TextComesBackAsItWas) {
  const Vocabulary vocabulary(text(), pieces());
  const auto expect_same = [&](const std::string& it, LastLine last = LastLine::ends) {
    const Encoded encoded = vocabulary.encode(it, "f", last);
    EXPECT_EQ(vocabulary.decode(encoded.ids), it) << testing::PrintToString(it);
    EXPECT_TRUE(encoded.missing.empty());
    EXPECT_EQ(encoded.bytes, std::ssize(it));
  };
  for (const std::string it :
       {"", "\n", "\n\n\n", " ", "  \n", "the cat", "the cat\n", " the cat \n", "   the   cat   \n\n the\n",
        "THE CAT!\n", "\tthe\tcat\t\n", "a\rb\n", "<unk> <0x41> <s> </s> <eos>\n",
        "\xe2\x96\x81the\xe2\x96\x81 \xe2\x96\x81\n", "\xe2\x96\x85 \xe2\x96\x85the\n",
        "\xef\xbf\xbd \xef\xbb\xbf\xc2\xa0\xe3\x80\x80\n", "e\xcc\x81 \xef\xac\x81\n",
        "\xf0\x9f\x98\x80\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9 x\n", "\x7f\x01\x1f\n"})
    for (const LastLine last : {LastLine::ends, LastLine::goes_on}) expect_same(it, last);
  expect_same(std::string("a\0b \0\n", 6));
  expect_same(std::string(5000, 'x') + " \n");
  expect_same(std::string(300, ' ') + "\n");

  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {  // any characters, many of them spaces, newlines, and such as the text has
    std::string it;
    for (int j = 0; j < 20; ++j) {
      const std::string_view known = "the cat  \n\n";
      const char32_t c =
          random() % 2 ? known[random() % known.size()] : random() % (j % 2 ? 0x110000 : 0x3000);
      if (c < 0xd800 || c > 0xdfff) it += utf8_of(std::u32string(1, c));
    }
    expect_same(it);
  }
}

TEST_P(PiecesTest, LearntFromStrangeTextTheySayItAgain) {
  std::string content = text().content;
  for (const std::string strange :
       {"\xe2\x96\x81", "\xe2\x96\x85", "\t", "\x01", "\xf0\x9f\x98\x80", "<unk>"})
    for (int i = 0; i < 50; ++i) content += "the" + strange + "cat " + strange + strange + "\n";
  content += std::string("\0the\0\n", 6) + std::string(10'000, 'y') + "\n\n   \n no end";
  const Vocabulary vocabulary(clean_text(content, "f", Unit::pieces), pieces(340));
  EXPECT_EQ(vocabulary.size(), 340);
  EXPECT_EQ(vocabulary.decode(vocabulary.encode(content, "f").ids), content);
  EXPECT_TRUE(vocabulary.id("\xf0\x9f\x98\x80")) << "a frequent character is a piece";
}

TEST_P(PiecesTest, EqualTextsGiveEqualModels) {
  const Vocabulary first(text(), pieces()), second(text(), pieces());
  EXPECT_EQ(first.pieces()->bytes(), second.pieces()->bytes());
  EXPECT_EQ(first.to_text(), second.to_text());
}

TEST_P(PiecesTest, ComeBackFromTheirFiles) {
  const Vocabulary vocabulary(text(), pieces());
  Vocabulary stored = Vocabulary::from_text(vocabulary.to_text(), "vocab.txt", pieces());
  stored.read_pieces(vocabulary.pieces()->bytes(), "vocab.pieces");
  const std::string other = "the housecats sat \xe2\x82\xac\n\n running\n";
  EXPECT_EQ(stored.encode(other, "f").ids, vocabulary.encode(other, "f").ids);

  const std::string bytes = vocabulary.pieces()->bytes();
  for (const std::string& broken : {std::string(), std::string("no model\n"),
                                    bytes.substr(0, bytes.size() / 2), bytes.substr(0, bytes.size() - 1)})
    expect_input_error([&] { stored.read_pieces(broken, "vocab.pieces"); }, "vocab.pieces");
  expect_input_error(
      [&] { stored.read_pieces(Vocabulary(text(), pieces(310)).pieces()->bytes(), "vocab.pieces"); },
      "vocab.pieces: not the model of this vocabulary");
}

TEST_P(PiecesTest, CountBytesOfTheText) {
  const Vocabulary vocabulary(text(), pieces());
  EXPECT_EQ(vocabulary.encode("the cat\n", "f").first_bytes, 3);
  EXPECT_EQ(vocabulary.encode("\xe2\x82\xac\n", "f").first_bytes, 0)
      << "only the space that is not in the text";
  EXPECT_EQ(vocabulary.encode("\nthe\n", "f").first_bytes, 1);
}

TEST_P(PiecesTest, EndSentences) {
  TextPair train(text(), text());
  const PairVocabularies both = vocabularies_of(train, pieces(), {.min_count = 2}, true);
  EXPECT_EQ(both.source.to_text(), both.target.to_text());
  const Sentences sentences = encode_sentences("the cat\n\n<eos> cat", "f", both.source);
  ASSERT_EQ(sentences.size(), 3);
  EXPECT_EQ(sentences.length(0), 3);
  EXPECT_EQ(sentences.length(1), 1);
}

TEST_P(PiecesTest, RefuseNumbersThatTheTextCannotHave) {
  expect_input_error([&] { Vocabulary(text(), pieces(100'000)); }, "data.pieces = 100000 are more than the ",
                     "that train.txt gives", "or less");
  expect_input_error([&] { Vocabulary(text(), pieces(1)); }, "data.pieces = 1 are too few", "train.txt",
                     "or more");
  const Text blank = clean_text("\n\n", "blank.txt", Unit::pieces);
  expect_input_error([&] { Vocabulary(blank, pieces()); }, "blank.txt");
  expect_input_error([&] { clean_text("caf\xe9\n", "latin.txt", Unit::pieces); }, "latin.txt: not UTF-8");
}

INSTANTIATE_TEST_SUITE_P(Each, PiecesTest, testing::Values(PieceModelKind::unigram, PieceModelKind::bpe),
                         [](const auto& it) { return name_of(it.param); });

}  // namespace
}  // namespace rondo
