// Text to symbols and back: data/text/symbols.h.
#include "data/text/symbols.h"

#include <gtest/gtest.h>

#include "data/text/text.h"
#include "tests/data/files.h"

namespace rondo {
namespace {

using Strings = std::vector<std::string>;

constexpr Tokenization as_words{Unit::words}, as_characters{Unit::characters}, as_bytes{Unit::bytes};
constexpr Tokenization stripped{Unit::characters, true};

Strings symbols(std::string_view text, Tokenization tokenization, LastLine last = LastLine::ends) {
  SymbolReader reader(text, tokenization, "text", last);
  Strings result;
  while (const auto symbol = reader.next()) result.emplace_back(*symbol);
  EXPECT_FALSE(reader.next());  // the end stays the end
  return result;
}

std::string join(const Strings& symbols, Unit unit) {
  SymbolWriter writer(unit);
  std::string text;
  for (const auto& symbol : symbols) text += writer.next(symbol);
  return text;
}

TEST(Unit, Names) {
  for (const Unit unit : {Unit::words, Unit::characters, Unit::bytes})
    EXPECT_EQ(value_named<Unit>(name_of(unit)), unit);
  EXPECT_EQ(name_of(Unit::bytes), "bytes");
  EXPECT_EQ(value_named<Unit>("chars"), std::nullopt);
}

TEST(Words, EosEndsEveryLine) {
  EXPECT_EQ(symbols("the Cat\nsat\n", as_words), (Strings{"the", "Cat", "<eos>", "sat", "<eos>"}));
  EXPECT_EQ(symbols("a\n\nb\n", as_words), (Strings{"a", "<eos>", "<eos>", "b", "<eos>"}));
  EXPECT_EQ(symbols("a b", as_words), (Strings{"a", "b", "<eos>"}));
  EXPECT_EQ(symbols("a\n  ", as_words), (Strings{"a", "<eos>", "<eos>"}));
  EXPECT_EQ(symbols("\n", as_words), Strings{"<eos>"});
  EXPECT_EQ(symbols("", as_words), Strings{});
}

TEST(Words, AnyAsciiSpaceSeparates) {
  EXPECT_EQ(symbols(" a \t b\rc\fd\ve \n", as_words), (Strings{"a", "b", "c", "d", "e", "<eos>"}));
  EXPECT_EQ(symbols("a\u00a0b", as_words), (Strings{"a\u00a0b", "<eos>"}));  // a no-break space is no space
  EXPECT_EQ(symbols("caf\xe9 x", as_words), (Strings{"caf\xe9", "x", "<eos>"}));  // need not be UTF-8
}

TEST(Words, PunctuationIsSeparatedAndCaseFolded) {
  constexpr Tokenization separated{.tokenize = true}, lower{.lowercase = true},
      both{.tokenize = true, .lowercase = true};
  const std::string text = "He said: \"No, 3.5!\"\n<unk> U.S. <eos>\n";
  EXPECT_EQ(symbols(text, separated), (Strings{"He", "said", ":", "\"", "No", ",", "3.5", "!", "\"", "<eos>",
                                               "<unk>", "U", ".", "S", ".", "<eos>", "<eos>"}));
  EXPECT_EQ(symbols("Éa B, <unk>", lower), (Strings{"éa", "b,", "<unk>", "<eos>"}));
  EXPECT_EQ(symbols("No, no,", both), (Strings{"no", ",", "no", ",", "<eos>"}));
  EXPECT_EQ(symbols("No, n", both, LastLine::goes_on), (Strings{"no", ",", "n"})) << "a prompt";
  EXPECT_EQ(symbols("<skipped> a", separated), (Strings{"<skipped>", "a", "<eos>"})) << "never nothing";
  EXPECT_EQ(symbols("ÀB\n", {.unit = Unit::characters, .lowercase = true}), (Strings{"à", "b", "\n"}));
  SymbolReader reader("a No, b", both, "text");
  for (const std::size_t position : {1, 5, 5, 7}) {
    reader.next();
    EXPECT_EQ(reader.position(), position) << "the bytes of whole words";
  }
  expect_input_error([&] { symbols("a \xe9", lower); }, "not UTF-8");
  expect_input_error([] { check_options(Tokenization{.unit = Unit::pieces, .tokenize = true}); }, "tokenize");
  expect_input_error([] { check_options(Tokenization{.unit = Unit::bytes, .lowercase = true}); },
                     "lowercase");
}

TEST(Characters, AreCodePoints) {
  EXPECT_EQ(symbols("a \xc3\xa9\n\xe2\x82\xac\xf0\x9f\x98\x80", as_characters),
            (Strings{"a", " ", "\xc3\xa9", "\n", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}));
  EXPECT_EQ(symbols("\n\na", as_characters), (Strings{"\n", "\n", "a"}));
  expect_input_error([] { symbols("ab\ncd\xff", as_characters); }, "text: not UTF-8 at byte 5 (line 2)");
}

TEST(Characters, StrippedLines) {
  EXPECT_EQ(symbols(" a b \n\t\n c", stripped), (Strings{"a", " ", "b", "\n", "\n", "c", "\n"}));
  EXPECT_EQ(symbols("  \n", stripped), Strings{"\n"});
}

TEST(Bytes, AreRaw) {
  EXPECT_EQ(symbols("\xc3\xa9\r\n\xff", as_bytes), (Strings{"\xc3", "\xa9", "\r", "\n", "\xff"}));
  EXPECT_EQ(symbols(std::string("\0a", 2), as_bytes), (Strings{std::string("\0", 1), "a"}));
}

TEST(LastLine, OfAPromptGoesOn) {
  EXPECT_EQ(symbols("a\nb c ", as_words, LastLine::goes_on), (Strings{"a", "<eos>", "b", "c"}));
  EXPECT_EQ(symbols("a\n", as_words, LastLine::goes_on), (Strings{"a", "<eos>"}));
  EXPECT_EQ(symbols(" a \n b ", stripped, LastLine::goes_on), (Strings{"a", "\n", "b", " "}));
}

TEST(SymbolReader, KnowsTheLine) {
  SymbolReader reader("a b\n\nc", as_words, "text");
  std::vector<std::int64_t> lines;
  while (reader.next()) lines.push_back(reader.line());
  EXPECT_EQ(lines, (std::vector<std::int64_t>{1, 1, 1, 2, 3, 3}));
}

TEST(SymbolWriter, JoinsWordsWithSpaces) {
  EXPECT_EQ(join({"the", "cat", "<eos>", "<eos>", "<unk>", "sat"}, Unit::words), "the cat\n\n<unk> sat");
  EXPECT_EQ(join({"a", " ", "\xc3\xa9", "\n"}, Unit::characters), "a \xc3\xa9\n");
}

TEST(CleanText, NormalisesAllButBytes) {
  const std::string raw = "\ufeffa\r\n";
  for (const Unit unit : {Unit::words, Unit::characters}) {
    const Text text = clean_text(raw, "f", unit);
    EXPECT_EQ(text.content, "a\n");
    EXPECT_EQ(text.notes,
              (Strings{"f: a byte-order mark was removed", "f: 1 line ends CRLF were read as LF"}));
    EXPECT_EQ(text.sha256, sha256_hex(raw));
  }
  const Text text = clean_text(raw, "f", Unit::bytes);
  EXPECT_EQ(text.content, raw);
  EXPECT_TRUE(text.notes.empty());
}

TEST(CleanText, BadInput) {
  expect_input_error([] { clean_text("", "f.txt", Unit::words); }, "f.txt: empty");
  expect_input_error([] { clean_text("\xef\xbb\xbf", "f.txt", Unit::words); }, "f.txt: empty");
  // The offset is that of the file, though the mark and the carriage return go.
  expect_input_error([] { clean_text("\ufeffa\r\n\xff", "f.txt", Unit::characters); }, "byte 6 (line 2)");
  EXPECT_NO_THROW(clean_text("\xff", "f.txt", Unit::words));
  EXPECT_NO_THROW(clean_text("\xff", "f.txt", Unit::bytes));
  expect_input_error([&] { clean_text("", "void.txt", Unit::bytes); }, "void.txt: empty");
}

}  // namespace
}  // namespace rondo
