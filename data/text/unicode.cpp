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

std::string utf8_of(std::u32string_view text) {
  std::string result;
  for (const char32_t c : text) {
    const int further = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;      // bytes after the first
    const char32_t marks = further == 0 ? 0 : 0xff00u >> (further + 1) & 0xffu;  // as many ones as bytes
    result += static_cast<char>(marks | c >> (6 * further));
    for (int i = further - 1; i >= 0; --i) result += static_cast<char>(0x80u | (c >> (6 * i) & 0x3fu));
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

namespace {

void replace_all(std::u32string& text, std::u32string_view what, std::u32string_view with) {
  for (std::size_t at = text.find(what); at != std::u32string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

bool is_digit(char32_t c) { return U'0' <= c && c <= U'9'; }
bool is_point(char32_t c) { return c == U'.' || c == U','; }
bool is_dash(char32_t c) { return c == U'-'; }
bool is_ascii_punctuation(char32_t c) {
  const auto between = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  return between(U'!', U'/') || between(U':', U'@') || between(U'[', U'`') || between(U'{', U'~');
}
/// ASCII punctuation, except apostrophe, comma, dash and full stop.
bool is_symbol(char32_t c) { return is_ascii_punctuation(c) && !is_point(c) && !is_dash(c) && c != U'\''; }

/// Puts a space between neighbours `first` and `second`, one `before` them and one `after` them; from left to
/// right, and what has been a second is not a first.
template <class First, class Second>
std::u32string separate(std::u32string_view text, First first, Second second, std::u32string_view before,
                        std::u32string_view after) {
  std::u32string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + 1 == text.size() || !first(text[at]) || !second(text[at + 1])) {
      result += text[at];
      continue;
    }
    result += before;
    result += text[at];
    result += U' ';
    result += text[++at];
    result += after;
  }
  return result;
}

}  // namespace

std::vector<std::u32string> words_of_13a(std::u32string_view sentence) {
  std::u32string text(sentence);
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");

  std::u32string spaced = U" ";
  for (const char32_t c : text) {
    if (is_symbol(c)) spaced += U' ';
    spaced += c;
    if (is_symbol(c)) spaced += U' ';
  }
  spaced += U' ';
  const auto no_digit = [](char32_t c) { return !is_digit(c); };
  spaced = separate(spaced, no_digit, is_point, U"", U" ");
  spaced = separate(spaced, is_point, no_digit, U" ", U"");
  spaced = separate(spaced, is_digit, is_dash, U"", U" ");
  return split_at_white_space(spaced);
}

}  // namespace rondo
