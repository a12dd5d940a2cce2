// Bytes as lines and words, strict UTF-8, and what an error message may print of them. Next:
// data/files/input_file.h, which reads files; data/text/text.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/error.h"

namespace rondo {

/// The maximum length: a file with a longer line is not a file of lines.
constexpr std::size_t longest_line = 16 << 20;

/// Values as they lie in memory.
template <class Value>
std::string_view bytes_of(std::span<const Value> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// The lines of a text without their newlines; a last line need not end in one.
std::vector<std::string_view> split_lines(std::string_view text);

/// ASCII white space in any locale: space, tab, newline, vertical tab, form feed, carriage return.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// A line without the white space around it.
std::string_view stripped(std::string_view line);
/// Splits a text at the characters that `is_between` says, of which several count as one.
template <class Char, class IsBetween>
std::vector<std::basic_string_view<Char>> split_at(std::basic_string_view<Char> text, IsBetween is_between) {
  std::vector<std::basic_string_view<Char>> words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    while (at < text.size() && !is_between(text[at])) ++at;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  }
  return words;
}
/// Splits a text at white space.
std::vector<std::string_view> split_words(std::string_view text);
/// Returns whether `word` is one of these words.
bool has_word(std::string_view text, std::string_view word);
/// Splits a line at its tabs.
std::vector<std::string_view> split_fields(std::string_view line);
/// Returns the finite number that the whole text spells, such as 12, -0.5 or 1e-3; else nothing.
std::optional<double> parse_number(std::string_view text);
/// Returns the whole number that the whole text spells, such as 12 or -3; else nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Whether a byte of UTF-8 continues a character, and does not begin one.
constexpr bool continues_character(char byte) { return (byte & 0xc0) == 0x80; }
/// The number of bytes of the UTF-8 sequence that begins at `at` (1 to 4), or 0 if there is none. Strict
/// (Unicode 15, table 3-7): no overlong form, no surrogate, nothing above U+10FFFF, nothing truncated. Needs
/// at < text.size().
std::size_t utf8_length(std::string_view text, std::size_t at);

/// check_utf8() throws this; a caller may add advice, such as another unit.
class NotUtf8 : public InputError {
 public:
  using InputError::InputError;
};
/// Throws NotUtf8 with the byte offset (from 0) and the line (from 1) of the first byte that is not UTF-8,
/// counted from the given starts.
void check_utf8(std::string_view text, const std::string& name, std::int64_t bytes_before = 0,
                std::int64_t lines_before = 0);
/// Throws it for the byte `at`.
[[noreturn]] void throw_not_utf8(std::string_view text, std::size_t at, const std::string& name,
                                 std::int64_t bytes_before = 0, std::int64_t lines_before = 0);
/// Throws InputError for text that is not UTF-8 or has a NUL byte.
void check_is_text(std::string_view text, const std::string& name);

/// `text` with U+FFFD, the replacement character, in place of each byte that is not UTF-8.
std::string replace_invalid_utf8(std::string_view text);

/// A byte-order mark in UTF-8, with which some programs begin a text.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// Throws InputError if bytes begin like a file of another kind than text: a packed one or a PDF, with the
/// command that gives the text; a safetensors file.
void check_kind(std::string_view bytes, const std::string& name);

/// `text` for a line that a person reads: control characters, those that turn the direction of the text, what
/// is no character, and bytes that are not UTF-8 become `\xNN`. Of its own result it changes nothing.
std::string printable(std::string_view text);
/// Returns the first hundred bytes or so of a text as printable(), and "..." if it is longer.
std::string excerpt(std::string_view text);

}  // namespace rondo
