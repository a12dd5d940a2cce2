// Code points, white space and lower case, compared with Python's: data/text/unicode.h.
#include "data/text/unicode.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>

#include "tests/data/files.h"
#include "tests/golden/translation_golden.h"

namespace rondo {
namespace {

using Texts = std::vector<std::u32string>;

TEST(Unicode, CodePoints) {
  EXPECT_EQ(code_points("", "a"), U"");
  const std::string ends =
      "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
  EXPECT_EQ(utf8_of(code_points(ends, "a")), ends);
  EXPECT_EQ(code_points(ends, "a"), U"a\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff");
  EXPECT_EQ(code_points(std::string_view("\0x", 2), "a"), std::u32string_view(U"\0x", 2));
  expect_input_error([] { code_points("ab\xff", "en.txt, line 3"); }, "en.txt, line 3: not UTF-8 at byte 2",
                     "0xff");
  expect_input_error([] { code_points("\xe2\x82", "a"); }, "not UTF-8 at byte 0", "0xe2");
}

TEST(Unicode, WhiteSpaceIsThatOfPython) {
  std::vector<char32_t> found;
  for (char32_t c = 0; c < 0x110000; ++c)
    if (is_white_space(c)) found.push_back(c);
  EXPECT_EQ(found, translation_golden().at("white_space").get<std::vector<char32_t>>());
}

TEST(Unicode, SplitsAtWhiteSpace) {
  EXPECT_EQ(split_at_white_space(U""), Texts());
  EXPECT_EQ(split_at_white_space(U" \u3000\t"), Texts());
  EXPECT_EQ(split_at_white_space(U"\u00a0a bc\u2003\u2003d"), (Texts{U"a", U"bc", U"d"}));
  EXPECT_EQ(split_at_white_space(U"a b "), (Texts{U"a", U"b"}));
}

TEST(Unicode, LowerCaseIsThatOfPythonInTheBlocksThatAreCovered) {
  std::map<char32_t, std::u32string> changed;
  for (const std::string& pair : translation_golden().at("capitals").get<Strings>()) {
    const std::u32string text = code_points(pair, "golden");
    changed[text[0]] = text.substr(1);
  }
  ASSERT_GT(changed.size(), 400u);
  for (const auto& block : translation_golden().at("exact_blocks").get<std::vector<std::vector<char32_t>>>())
    for (char32_t c = block[0]; c <= block[1]; ++c) {
      const std::u32string letter(1, c);
      EXPECT_EQ(lower_case(letter), changed.contains(c) ? changed.at(c) : letter)
          << std::hex << static_cast<std::uint32_t>(c);
    }
}

TEST(Unicode, LowerCaseOfWords) {
  for (const auto& [text, lower] :
       translation_golden().at("lower_case").get<std::vector<std::array<std::string, 2>>>())
    EXPECT_EQ(lower_case(code_points(text, "golden")), code_points(lower, "golden")) << text;
}

}  // namespace
}  // namespace rondo
