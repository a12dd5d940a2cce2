// Code points, white space and lower case; see data/text/unicode.h.
#include "data/text/unicode.h"

#include <algorithm>
#include <iterator>

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
  std::vector<std::u32string> words;
  for (auto at = text.begin();;) {
    const auto begin = std::find_if_not(at, text.end(), is_white_space);
    if (begin == text.end()) return words;
    at = std::find_if(begin, text.end(), is_white_space);
    words.emplace_back(begin, at);
  }
}

namespace {

/// Capital letters `first`, `first + step`, ..., `last`; the small letter of each is `offset` after it.
struct Capitals {
  char32_t first, last;
  int offset, step = 1;
};

/// From Unicode's UnicodeData.txt (Simple_Lowercase_Mapping), in ascending order.
constexpr Capitals capitals[] = {
    {0x41, 0x5a, 32},         // Latin
    {0xc0, 0xd6, 32},         // Latin-1
    {0xd8, 0xde, 32},         //
    {0x100, 0x12e, 1, 2},     // Latin Extended-A; U+0130 is not one letter in lower case
    {0x132, 0x136, 1, 2},     //
    {0x139, 0x147, 1, 2},     //
    {0x14a, 0x176, 1, 2},     //
    {0x178, 0x178, -121},     //
    {0x179, 0x17d, 1, 2},     //
    {0x1a0, 0x1a4, 1, 2},     // Latin Extended-B: Vietnamese
    {0x1af, 0x1af, 1},        //
    {0x1c4, 0x1c4, 2},        // Croatian digraphs, Pinyin
    {0x1c5, 0x1c5, 1},        //
    {0x1c7, 0x1c7, 2},        //
    {0x1c8, 0x1c8, 1},        //
    {0x1ca, 0x1ca, 2},        //
    {0x1cb, 0x1db, 1, 2},     //
    {0x1f8, 0x21e, 1, 2},     // Romanian
    {0x370, 0x372, 1, 2},     // Greek
    {0x376, 0x376, 1},        //
    {0x37f, 0x37f, 116},      //
    {0x386, 0x386, 38},       //
    {0x388, 0x38a, 37},       //
    {0x38c, 0x38c, 64},       //
    {0x38e, 0x38f, 63},       //
    {0x391, 0x3a1, 32},       //
    {0x3a3, 0x3ab, 32},       //
    {0x3cf, 0x3cf, 8},        //
    {0x3d8, 0x3ee, 1, 2},     //
    {0x3f4, 0x3f4, -60},      //
    {0x3f7, 0x3f7, 1},        //
    {0x3f9, 0x3f9, -7},       //
    {0x3fa, 0x3fa, 1},        //
    {0x3fd, 0x3ff, -130},     //
    {0x400, 0x40f, 80},       // Cyrillic
    {0x410, 0x42f, 32},       //
    {0x460, 0x480, 1, 2},     //
    {0x48a, 0x4be, 1, 2},     //
    {0x4c0, 0x4c0, 15},       //
    {0x4c1, 0x4cd, 1, 2},     //
    {0x4d0, 0x52e, 1, 2},     //
    {0x531, 0x556, 48},       // Armenian
    {0x1e00, 0x1e94, 1, 2},   // Latin Extended Additional
    {0x1e9e, 0x1e9e, -7615},  //
    {0x1ea0, 0x1efe, 1, 2},   //
};

char32_t lower_case_of(char32_t c) {
  const auto* at = std::lower_bound(std::begin(capitals), std::end(capitals), c,
                                    [](const Capitals& it, char32_t letter) { return it.last < letter; });
  const bool is_capital = at != std::end(capitals) && at->first <= c && (c - at->first) % at->step == 0;
  return is_capital ? c + at->offset : c;
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
