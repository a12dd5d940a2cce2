// Lines, words, UTF-8: data/files/lines.h.
#include "data/files/lines.h"

#include <gtest/gtest.h>

#include "tests/data/files.h"

namespace rondo {
namespace {

using Strings = std::vector<std::string>;
using Views = std::vector<std::string_view>;

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a \\ \xc3\xa9 \xf0\x9f\x98\x80 \xc2\xa0"), "a \\ \xc3\xa9 \xf0\x9f\x98\x80 \xc2\xa0");
  EXPECT_EQ(printable(std::string("\0\t\n\x1b[2J\x7f", 8)), "\\x00\\x09\\x0a\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xc2\x80 \xc2\x9b"), "\\xc2\\x80 \\xc2\\x9b");
  // Both ends of what turns the direction (Unicode, annex 9, tables 1 and 2), with their neighbours; U+FFFE.
  EXPECT_EQ(printable("\u2029\u202a\u202e\u202f"), "\u2029\\xe2\\x80\\xaa\\xe2\\x80\\xae\u202f");
  EXPECT_EQ(printable("\u2065\u2066\u2069\u206a"), "\u2065\\xe2\\x81\\xa6\\xe2\\x81\\xa9\u206a");
  EXPECT_EQ(printable("\ufffd\ufffe\uffff\u05d0\u200f"), "\ufffd\\xef\\xbf\\xbe\\xef\\xbf\\xbf\u05d0\u200f");
  EXPECT_EQ(printable("\xff \x9b \xe2\x82"), "\\xff \\x9b \\xe2\\x82");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ExcerptsAreShort) {
  const std::string hundred(100, 'x');
  EXPECT_EQ(excerpt(hundred), hundred);
  EXPECT_EQ(excerpt(hundred + "x"), hundred + "...");
  EXPECT_EQ(excerpt("\n"), "\\x0a");
  std::string accents;
  while (accents.size() < 200) accents += "\xf0\x9f\x98\x80";
  EXPECT_EQ(excerpt(accents), accents.substr(0, 100) + "...");
  EXPECT_EQ(excerpt("ab" + accents), "ab" + accents.substr(0, 96) + "...") << "not within a character";
  EXPECT_EQ(excerpt(std::string(1 << 20, '\x80')).size(), 4 * 96 + 3u);
}

TEST(Utf8, BytesThatAreNoneAreReplaced) {
  EXPECT_EQ(replace_invalid_utf8("a\xc3\xa9\n"), "a\xc3\xa9\n");
  const std::string replacement = "\xef\xbf\xbd";
  EXPECT_EQ(replace_invalid_utf8("\xc3g\xe2\x82"), replacement + "g" + replacement + replacement);
}

TEST(Utf8, RefusesWhatIsNot) {
  const Strings no_lead_byte = {"\x80", "\xbf", "\xff", "\xfe"},
                overlong = {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf"},
                surrogates = {"\xed\xa0\x80", "\xed\xbf\xbf"},
                above_10ffff = {"\xf4\x90\x80\x80", "\xf5\x80\x80\x80"},
                cut_short = {"\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3 ", "\xe2\x82 ", "\xf0\x9f\x98 "},
                latin_1 = {"\xe9t\xe9"};
  for (const Strings& invalid : {no_lead_byte, overlong, surrogates, above_10ffff, cut_short, latin_1})
    for (const std::string& text : invalid) {
      EXPECT_EQ(utf8_length(text, 0), 0u) << testing::PrintToString(text);
      expect_input_error([&] { check_utf8(text, "f"); }, "f: not UTF-8 at byte 0: 0x");
      expect_input_error([&] { check_is_text("a\n" + text, "f"); }, "f: not UTF-8 at byte 2 (line 2): 0x");
    }
}

TEST(Utf8, ErrorNamesFileByteAndLine) {
  expect_input_error([] { check_utf8("ab\n\xc3\xa9\n\xe9t", "notes.txt"); }, "notes.txt", "byte 6", "line 3",
                     "0xe9");
  for (const std::string& text : {std::string("\xff\xfe\x61\0", 4), std::string("\xfe\xff\0\x61", 4)}) {
    expect_input_error([&] { check_utf8(text, "f"); }, "iconv -f UTF-16 -t UTF-8 FILE > NEW");
  }
  EXPECT_NO_THROW(check_utf8("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "f"));
}

TEST(SplitLines, NewlinesEndLines) {
  EXPECT_EQ(split_lines(""), Views{});
  EXPECT_EQ(split_lines("a\n\nb"), (Views{"a", "", "b"}));
  EXPECT_EQ(split_lines("a\n"), Views{"a"});
  EXPECT_EQ(split_lines("\n"), Views{""});
}

TEST(NumberIn, WholeTextsThatAreFiniteNumbers) {
  EXPECT_EQ(parse_number("-0.5"), -0.5);
  EXPECT_EQ(parse_number("1e-3"), 1e-3);
  for (const char* const text : {"", " 1", "1 ", "1x", "x", "inf", "-inf", "nan", "1e999"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

}  // namespace
}  // namespace rondo
