// The vocabulary and vocab.txt: data/text/vocabulary.h.
#include "data/text/vocabulary.h"

#include <gtest/gtest.h>

#include "tests/data/files.h"

namespace rondo {
namespace {

using Strings = std::vector<std::string>;
using Ids = std::vector<std::int32_t>;

constexpr Tokenization words{Unit::words}, characters{Unit::characters}, bytes{Unit::bytes};

Vocabulary make(std::string text, Tokenization tokenization = words, VocabularyLimits limits = {}) {
  return Vocabulary(clean_text(std::move(text), "train.txt", tokenization.unit), tokenization, limits);
}

Strings symbols(const Vocabulary& vocabulary) {
  Strings result;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) result.push_back(vocabulary.symbol(id));
  return result;
}

Vocabulary reload(const Vocabulary& vocabulary) {
  return Vocabulary::from_text(vocabulary.to_text(), "vocab.txt", vocabulary.tokenization());
}

void expect_load_error(std::string_view content, Tokenization tokenization, const std::string& part) {
  expect_input_error([&] { Vocabulary::from_text(content, "vocab.txt", tokenization); }, "vocab.txt", part);
}

TEST(Vocabulary, OrderOfFirstOccurrenceAndAReservedUnknown) {
  const Vocabulary vocabulary = make("b a\nb c\n");
  EXPECT_EQ(symbols(vocabulary), (Strings{"b", "a", "<eos>", "c", "<unk>"}));
  EXPECT_EQ(vocabulary.types(), 4);
  EXPECT_EQ(vocabulary.size(), 5);
  EXPECT_EQ(vocabulary.unknown_id(), 4);
  EXPECT_EQ(vocabulary.line_end_id(), 2);
  EXPECT_FALSE(vocabulary.unknown_is_trained());
}

TEST(Vocabulary, UnknownInTheTextIsAType) {
  const Vocabulary vocabulary = make("a <unk> b\n");
  EXPECT_EQ(symbols(vocabulary), (Strings{"<unk>", "a", "b", "<eos>"}));
  EXPECT_EQ(vocabulary.types(), 4);
  EXPECT_TRUE(vocabulary.unknown_is_trained());
}

Vocabulary of_texts(const Strings& contents, const VocabularyLimits& limits, SymbolOrder order) {
  std::vector<Text> texts;
  for (const std::string& content : contents) texts.push_back(clean_text(content, "a text", Unit::words));
  std::vector<const Text*> pointers;
  for (const Text& text : texts) pointers.push_back(&text);
  return Vocabulary(pointers, {}, limits, order);
}

TEST(Vocabulary, OfSeveralTextsInTheirOrder) {
  const auto of = [](const Strings& contents, const VocabularyLimits& limits = {}) {
    return of_texts(contents, limits, SymbolOrder::first_occurrence);
  };
  EXPECT_EQ(symbols(of({"b a\n", "c a", "d b"})), (Strings{"b", "a", "<eos>", "c", "d", "<unk>"}));
  EXPECT_EQ(of({"b a\n", "c a"}).types(), 4);
  // <unk> of another text than the first has a row, but no training changes it.
  const Vocabulary untrained = of({"a\n", "<unk> b\n"}, {.reserve_unknown = false});
  EXPECT_EQ(symbols(untrained), (Strings{"a", "<eos>", "b", "<unk>"}));
  EXPECT_FALSE(untrained.unknown_is_trained());
  EXPECT_EQ(symbols(of({"a <unk>\n", "b\n"})), (Strings{"<unk>", "a", "<eos>", "b"}));
  // Limits count in all texts; what the training text alone would have lost is trained as <unk>.
  EXPECT_EQ(symbols(of({"a b\n", "b c c\n"}, {.min_count = 2})), (Strings{"<unk>", "b", "<eos>", "c"}));
  EXPECT_EQ(symbols(of({"a a\n", "b\n"}, {.min_count = 2})), (Strings{"a", "<eos>", "<unk>"}));
}

TEST(Vocabulary, NoUnknownOnRequest) {
  const Vocabulary vocabulary = make("abab", characters, {.reserve_unknown = false});
  EXPECT_EQ(symbols(vocabulary), (Strings{"a", "b"}));
  EXPECT_EQ(vocabulary.types(), 2);
  EXPECT_EQ(vocabulary.unknown_id(), std::nullopt);
  EXPECT_EQ(vocabulary.line_end_id(), std::nullopt);
  EXPECT_FALSE(vocabulary.unknown_is_trained());
  EXPECT_EQ(vocabulary.encode("ba", "f").ids, (Ids{1, 0}));
  expect_input_error([&] { vocabulary.encode("b\nx", "f.txt"); }, "f.txt: line 1", "'\\n'", "<unk>");
}

TEST(Vocabulary, NamesTheLineOfWhatItLacks) {
  const Text train{.name = "train", .content = "a b\n", .sha256 = {}, .notes = {}};
  const Vocabulary it(train, {}, {.reserve_unknown = false});
  expect_input_error([&] { it.encode("a x\n", "standard input, line 7"); },
                     "standard input, line 7: 'x' is not");
  expect_input_error([&] { it.encode("a\nx\n", "t"); }, "t: line 2: 'x' is not", "which has no <unk>");
}

TEST(Vocabulary, MinimumCount) {
  const Vocabulary vocabulary = make("a b a c c d", words, {.min_count = 2});  // <eos> once, and stays
  EXPECT_EQ(symbols(vocabulary), (Strings{"<unk>", "a", "c", "<eos>"}));
  EXPECT_TRUE(vocabulary.unknown_is_trained());
  const Encoded encoded = vocabulary.encode("a b a c c d", "f");
  EXPECT_EQ(encoded.ids, (Ids{1, 0, 1, 2, 2, 0, 3}));
  EXPECT_EQ(encoded.unknowns, 2);
  EXPECT_FALSE(make("a a b b\n", words, {.min_count = 2}).unknown_is_trained());  // nothing was rare
}

TEST(Vocabulary, MaximumSize) {
  const std::string text = "d c c b b a a a\n";
  EXPECT_EQ(symbols(make(text, words, {.max_size = 4})),
            (Strings{"<unk>", "c", "a", "<eos>"}));  // c before b
  EXPECT_EQ(symbols(make(text, words, {.max_size = 2})), (Strings{"<unk>", "<eos>"}));
  EXPECT_EQ(symbols(make(text, words, {.max_size = 6})), (Strings{"d", "c", "b", "a", "<eos>", "<unk>"}));
  // Five types and the row of <unk> are more than five rows, unless the row is not wanted.
  EXPECT_EQ(symbols(make(text, words, {.max_size = 5})), (Strings{"<unk>", "c", "b", "a", "<eos>"}));
  EXPECT_EQ(symbols(make(text, words, {.max_size = 5, .reserve_unknown = false})),
            (Strings{"d", "c", "b", "a", "<eos>"}));
  EXPECT_EQ(symbols(make("aabbc", characters, {.max_size = 2})), (Strings{"<unk>", "a"}));
  EXPECT_EQ(symbols(make("aabbbc", bytes, {.max_size = 3})), (Strings{"<unk>", "a", "b"}));
}

TEST(Vocabulary, ByFrequencyInTheTrainingText) {
  const auto of = [](const Strings& contents, const VocabularyLimits& limits = {}) {
    return of_texts(contents, limits, SymbolOrder::frequency);
  };
  EXPECT_EQ(symbols(of({"c b b\na b a\n"})), (Strings{"b", "<eos>", "a", "c", "<unk>"}));  // <eos> before a
  EXPECT_EQ(symbols(of({"a <unk> b b\n"})), (Strings{"<unk>", "b", "a", "<eos>"})) << "trained: id 0";
  // What other texts have is not counted, and comes last.
  EXPECT_EQ(symbols(of({"b a a\n", "b b c c c c d\n"})), (Strings{"a", "b", "<eos>", "c", "d", "<unk>"}));
  EXPECT_EQ(symbols(of({"d c c b b a a a\n"}, {.max_size = 5})), (Strings{"<unk>", "a", "c", "b", "<eos>"}));
}

TEST(Vocabulary, LimitsOutOfRange) {
  expect_input_error([] { make("a", words, {.min_count = 0}); }, "min_count = 0");
  expect_input_error([] { make("a", words, {.max_size = 1}); }, "max_size = 1");
  expect_input_error([] { make("a", words, {.max_size = -3}); }, "max_size = -3");
}

TEST(Vocabulary, EncodesOtherText) {
  const Vocabulary vocabulary = make("a b <unk>\n");
  const Encoded encoded = vocabulary.encode("b x <unk> y x a\n", "f");
  EXPECT_EQ(encoded.ids, (Ids{2, 0, 0, 0, 0, 1, 3}));
  EXPECT_EQ(encoded.unknowns, 4);
  EXPECT_EQ(encoded.missing, (Strings{"x", "y"}));
  EXPECT_EQ(vocabulary.encode("a b", "f", LastLine::goes_on).ids, (Ids{1, 2}));
  EXPECT_EQ(make("ab", bytes).encode(std::string("b\xff") + "a", "f").ids, (Ids{1, 2, 0}));
}

TEST(Vocabulary, DecodesWhatItEncoded) {
  const std::string text = "the cat\n\nsat oñ\n";
  for (const Tokenization tokenization : {words, characters, bytes}) {
    const Vocabulary vocabulary = make(text, tokenization);
    EXPECT_EQ(vocabulary.decode(vocabulary.encode(text, "f").ids), text);
  }
}

TEST(Vocabulary, RefusesIdsOutOfRange) {
  const Vocabulary vocabulary = make("a\n");
  EXPECT_THROW(vocabulary.symbol(-1), Error);
  EXPECT_THROW(vocabulary.symbol(3), Error);
}

TEST(VocabularyFile, Escapes) {
  const std::string text = "a\\\n\t \r\x7f\xc3\xa9";
  EXPECT_EQ(make(text, characters).to_text(), "a\n\\\\\n\\n\n\\t\n\\x20\n\\x0d\n\\x7f\n\xc3\xa9\n<unk>\n");
  EXPECT_EQ(make("\xc3\xa9\xff", bytes).to_text(), "\\xc3\n\\xa9\n\\xff\n<unk>\n");
  EXPECT_EQ(make("caf\xe9 caf\xc3\xa9 c:\\new", words).to_text(),
            "caf\\xe9\ncaf\xc3\xa9\nc:\\\\new\n<eos>\n<unk>\n");
}

TEST(VocabularyFile, RoundTrips) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const auto check_same = [](const Vocabulary& made) {
    const Vocabulary loaded = reload(made);
    EXPECT_EQ(symbols(loaded), symbols(made));
    EXPECT_EQ(loaded.unknown_is_trained(), made.unknown_is_trained());
    EXPECT_EQ(loaded.types(), made.types());
    EXPECT_EQ(loaded.unknown_id(), made.unknown_id());
    EXPECT_EQ(loaded.line_end_id(), made.line_end_id());
  };
  check_same(make(every_byte, bytes));
  check_same(make(every_byte, words));
  check_same(make("\\x41 \\\\ \\", words));
  check_same(make("x\xe2\x82\xac\n\\ \xf0\x9f\x98\x80", characters));
  check_same(make("a\nb <unk>\n", words));
  check_same(make("a b b", words, {.min_count = 2}));
  check_same(make("abcabd", characters, {.min_count = 2, .reserve_unknown = false}));
  check_same(make("<unk>", words));
  check_same(make("a", characters));
}

TEST(VocabularyFile, ReadsEitherSpellingOfABlank) {
  expect_load_error("a\n \n\\X41", characters, "line 3: bad escape");
  EXPECT_EQ(symbols(Vocabulary::from_text("a\n \n\\x4A", "vocab.txt", characters)), (Strings{"a", " ", "J"}));
}

TEST(VocabularyFile, BadInput) {
  expect_load_error("", words, "empty");
  expect_load_error("a\n<eos>\nb\na\n", words, "line 4: 'a' is already on line 1");
  expect_load_error("a\n\n<eos>\n", words, "line 2: empty");
  expect_load_error("a\n<eos>\n\\q\n", words, "line 3: bad escape");
  expect_load_error("a\n<eos>\nb\\", words, "line 3: bad escape");
  expect_load_error("\\x4\n", bytes, "line 1: bad escape");
  expect_load_error("\\x4g\n", bytes, "line 1: bad escape");
  expect_load_error("\\x-1\n", bytes, "line 1: bad escape");
  expect_load_error("a\nb\n", words, "no <eos>");
  expect_load_error("a\r\n<eos>\r\n", words, "line 1: 'a\\x0d' cannot");
  expect_load_error("a\nthe\n", characters, "line 2: 'the' cannot");
  expect_load_error("a\n\\xff\n", characters, "line 2: '\\xff' cannot");
  expect_load_error("a\n\xc3\xa9\n", bytes, "line 2");
}

// Whatever lies in its place, a message is one line of text.
TEST(VocabularyFile, QuotesLittleOfWhatIsNoSymbol) {
  const std::string control = "\x1b[2J" + std::string(1'000'000, '\0');
  for (const std::string& text : {control, control + "\\q", control + "\n" + control}) {
    const std::string line = error_of([&] { Vocabulary::from_text(text, "vocab.txt", characters); });
    EXPECT_LT(line.size(), 600u);
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace rondo
