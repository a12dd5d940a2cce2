// Code points, white space and lower case, as in Python, whose rules the metrics of translations are defined
// by. No locale is involved. UTF-8 itself: data/files/lines.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// The code points of UTF-8. InputError, which begins with `name`, for text that is not UTF-8.
std::u32string code_points(std::string_view text, const std::string& name);

/// White space of Python's str.split(): Unicode's, and U+001C to U+001F.
bool is_white_space(char32_t c);

/// Splits a text at white space.
std::vector<std::u32string> split_at_white_space(std::u32string_view text);

/// Returns the text in lower case, as Python's str.lower(). Σ becomes ς if a Greek letter precedes it and
/// none follows; Python also looks past full stops and apostrophes. Error if the locale C.UTF-8 is not
/// installed.
std::u32string lower_case(std::u32string_view text);

}  // namespace rondo
