// Code points, white space and lower case; see data/text/unicode.h.
#include "data/text/unicode.h"

#include <locale.h>
#include <wctype.h>

#include "data/files/lines.h"

namespace rondo {

std::u32string code_points(std::string_view text, const std::string& name) {
  check_utf8(text, name);
  std::u32string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    // The first of several bytes begins with as many ones as there are bytes, and a zero.
    char32_t c = length == 1 ? byte(0) : byte(0) & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) c = c << 6 | (byte(i) & 0x3fu);
    result += c;
    at += length;
  }
  return result;
}

bool is_white_space(char32_t c) {
  const auto between = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  if (c < 0x80) return between(0x09, 0x0d) || between(0x1c, 0x20);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || between(0x2000, 0x200a) || between(0x2028, 0x2029) ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

std::vector<std::u32string> split_at_white_space(std::u32string_view text) {
  const std::vector<std::u32string_view> words = split_at(text, is_white_space);
  return {words.begin(), words.end()};
}

namespace {

/// By the table of the C library, which is Unicode's (Simple_Lowercase_Mapping).
char32_t lower_case_of(char32_t c) {
  static_assert(sizeof(wchar_t) == sizeof(char32_t));
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  check(unicode != nullptr, "the locale C.UTF-8, which has the table of lower case, is not installed");
  return towlower_l(c, unicode);
}

/// U+037E is the question mark, U+0387 the semicolon.
bool is_greek_letter(char32_t c) { return 0x370 <= c && c <= 0x3ff && c != 0x37e && c != 0x387; }

}  // namespace

std::u32string lower_case(std::u32string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool follows_letter = at > 0 && is_greek_letter(text[at - 1]);
    const bool precedes_letter = at + 1 < text.size() && is_greek_letter(text[at + 1]);
    if (text[at] == U'Σ' && follows_letter && !precedes_letter)
      result += U'ς';
    else if (text[at] == U'İ')
      result += U"i\u0307";
    else
      result += lower_case_of(text[at]);
  }
  return result;
}

}  // namespace rondo
