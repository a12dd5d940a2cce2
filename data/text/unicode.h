// Code points, white space, lower case and words, as in Python, whose rules the metrics of translations are
// defined by. No locale is involved. UTF-8 itself: data/files/lines.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// The code points of UTF-8. InputError, which begins with `name`, for text that is not UTF-8.
std::u32string code_points(std::string_view text, const std::string& name);
/// The UTF-8 of code points.
std::string utf8_of(std::u32string_view text);

/// White space of Python's str.split(): Unicode's, and U+001C to U+001F.
bool is_white_space(char32_t c);

/// Splits a text at white space.
std::vector<std::u32string> split_at_white_space(std::u32string_view text);

/// Returns the text in lower case, as Python's str.lower(). Σ becomes ς if a Greek letter precedes it and
/// none follows; Python also looks past full stops and apostrophes. Error if the locale C.UTF-8 is not
/// installed.
std::u32string lower_case(std::u32string_view text);

/// The words of a sentence, with punctuation separated. The steps of mteval-v13a.pl: symbols; full stops and
/// commas, except between digits; the dash after a digit. It looks at no character beyond white space, so
/// that the words of a sentence are those of its parts between white space.
std::vector<std::u32string> words_of_13a(std::u32string_view sentence);

}  // namespace rondo
