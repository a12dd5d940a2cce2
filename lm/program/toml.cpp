// TOML: see toml.h. A reader of our own, because files may be hostile: it reads the text once and, since
// nothing is nested, needs no growing stack. A library for all of TOML is larger, and one that was tried
// aborted on such files.
#include "lm/program/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// The letters after a backslash, and what they stand for.
constexpr std::string_view escapes = "btnfr\"\\", escaped = "\b\t\n\f\r\"\\";

constexpr bool is_of_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// A code point of up to four hexadecimal digits, in UTF-8.
std::string utf8_of(std::uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {
    check_input(text.size() <= max_toml_bytes, "{}: {} bytes, and settings have at most {}: another file?",
                file, text.size(), max_toml_bytes);
  }

  std::vector<TomlSection> document() {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text_.starts_with(byte_order_mark)) line_begin_ = at_ = byte_order_mark.size();
    sections_.push_back({});
    for (skip_lines(); at_ < text_.size(); skip_lines()) {
      if (next() == '[')
        header();
      else
        key();
      skip_blanks();
      if (next() == '#') comment();
      if (at_ < text_.size() && !at_line_end()) fail(at_, "expected the end of the line, not {}", found());
    }
    return std::move(sections_);
  }

  TomlValue only_value() {
    TomlValue it = value();
    if (at_ < text_.size()) fail(at_, "expected the end, not {}", found());
    return it;
  }

 private:
  // ---- Places and errors.

  /// The position of a place in the current line.
  TomlPosition position(std::size_t at) const {
    const std::string_view before = text_.substr(line_begin_, at - line_begin_);
    return {line_,
            1 + std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xc0) != 0x80; })};
  }

  template <class... Arguments>
  [[noreturn]] void fail(std::size_t at, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    const TomlPosition where = position(at);
    throw InputError(fmt::format("{}:{}:{}: not valid TOML: {}", file_, where.line, where.column,
                                 fmt::format(text, std::forward<Arguments>(arguments)...)));
  }

  /// What comes next, for an error.
  std::string found() const {
    if (at_ == text_.size()) return "the end of the text";
    if (at_line_end()) return "the end of the line";
    const std::size_t length = std::max<std::size_t>(utf8_length(text_, at_), 1);
    return fmt::format("'{}'", printable(text_.substr(at_, length)));
  }

  // ---- Characters and lines.

  /// The next byte; at the end 0, which TOML does not allow.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool at_line_end() const { return next() == '\n' || text_.substr(at_, 2) == "\r\n"; }

  void skip_blanks() {
    while (next() == ' ' || next() == '\t') ++at_;
  }

  /// Skips spaces, comments and line ends.
  void skip_lines() {
    for (;;) {
      skip_blanks();
      if (next() == '#') comment();
      if (!at_line_end()) return;
      at_ += next() == '\r' ? 2 : 1;
      line_begin_ = at_;
      ++line_;
    }
  }

  void comment() {
    while (at_ < text_.size() && !at_line_end()) character();
  }

  /// Reads a character of a comment or string.
  std::string_view character() {
    const auto byte = static_cast<unsigned char>(next());
    const std::size_t length = utf8_length(text_, at_);
    if (length == 0) fail(at_, "the byte 0x{:02x} is not UTF-8", byte);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
      fail(at_, "the control character 0x{:02x}; in a string in double quotes, write \\u{:04x}", byte, byte);
    at_ += length;
    return text_.substr(at_ - length, length);
  }

  // ---- Sections and keys.

  /// `[name]` or `[table.name]`.
  void header() {
    const std::size_t begin = at_++;
    std::string name = bare_name();
    while (next() == '.') {
      ++at_;
      name += '.' + bare_name();
    }
    if (next() != ']') fail(at_, "expected ']', not {}", found());
    ++at_;
    if (!names_.insert(fmt::format("[{}]", name)).second) fail(begin, "[{}] appears twice", excerpt(name));
    sections_.push_back({std::move(name), position(begin), {}});
  }

  /// `name = value`.
  void key() {
    TomlSection& section = sections_.back();
    const std::size_t begin = at_;
    std::string name = bare_name();
    const std::string full = section.name.empty() ? name : section.name + '.' + name;
    if (next() != '=') fail(at_, "expected '=' after '{}', not {}", excerpt(full), found());
    ++at_;
    skip_blanks();
    if (!names_.insert(full).second) fail(begin, "'{}' appears twice", excerpt(full));
    const TomlPosition of_key = position(begin), of_value = position(at_);
    section.keys.push_back({std::move(name), of_key, value(), of_value});
  }

  /// A name, and the blanks around it.
  std::string bare_name() {
    skip_blanks();
    const std::size_t begin = at_;
    while (is_of_name(next())) ++at_;
    if (at_ == begin) fail(at_, "expected a name, not {}", found());
    std::string name(text_.substr(begin, at_ - begin));
    skip_blanks();
    return name;
  }

  // ---- Values.

  TomlValue value() {
    if (next() == '[') return list();
    return scalar();
  }

  TomlList list() {
    ++at_;
    TomlList list;
    for (skip_lines(); next() != ']'; skip_lines()) {
      list.push_back(scalar());
      skip_lines();
      if (next() == ']') break;
      if (next() != ',') fail(at_, "expected ',' or ']' after a value of a list, not {}", found());
      ++at_;
    }
    ++at_;
    return list;
  }

  TomlScalar scalar() {
    if (next() == '"' || next() == '\'') return string();
    return number_or_boolean();
  }

  std::string string() {
    const std::size_t begin = at_;
    const char quote = next();
    ++at_;
    std::string value;
    while (next() != quote) {
      if (at_ == text_.size() || at_line_end()) fail(begin, "this string has no {} at its end", quote);
      if (quote == '"' && next() == '\\')
        value += escape();
      else
        value += character();
    }
    ++at_;
    return value;
  }

  std::string escape() {
    const std::size_t begin = at_++;
    const char letter = next();
    if (const std::size_t known = escapes.find(letter); known != std::string_view::npos) {
      ++at_;
      return {escaped[known]};
    }
    const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
    std::uint32_t code = 0;
    const auto [after, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    const bool is_read = error == std::errc() && after == digits.data() + 4;
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    if (letter != 'u' || !is_read || is_surrogate)
      fail(begin, "a bad escape: \\ comes before one of {} and uXXXX", escapes);
    at_ += 1 + digits.size();
    return utf8_of(code);
  }

  TomlScalar number_or_boolean() {
    const std::size_t begin = at_;
    while (is_of_name(next()) || next() == '.' || next() == '+') ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) fail(begin, "expected a value, not {}", found());
    if (word == "true" || word == "false") return word == "true";
    const auto is_read_as = [&](auto& read) {
      const auto [after, error] = std::from_chars(word.data(), word.data() + word.size(), read);
      return error == std::errc() && after == word.data() + word.size();
    };
    std::int64_t integer = 0;
    if (is_read_as(integer)) return integer;
    double number = 0;
    if (is_read_as(number)) return number;
    fail(begin, "'{}' is no value; a string needs quotes", excerpt(word));
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, line_begin_ = 0;
  std::int64_t line_ = 1;
  std::vector<TomlSection> sections_;
  std::set<std::string> names_;  // "[section]" and "section.key"
};

}  // namespace

std::vector<TomlSection> parse_toml(std::string_view text, const std::string& file) {
  return Reader(text, file).document();
}

TomlValue parse_toml_value(std::string_view text) { return Reader(text, "value").only_value(); }

std::string toml_text(bool value) { return value ? "true" : "false"; }
std::string toml_text(std::int64_t value) { return fmt::format("{}", value); }

std::string toml_text(double value) {
  std::string text = fmt::format("{}", value);
  // TOML tells a float from an integer by its point or exponent.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(const std::string& value) {
  std::string text = "\"";
  for (std::size_t at = 0; at < value.size();) {
    const auto byte = static_cast<unsigned char>(value[at]);
    const std::size_t length = utf8_length(value, at), known = escaped.find(value[at]);
    if (length == 0)
      text += "\xef\xbf\xbd";
    else if (known != std::string_view::npos)
      text += {'\\', escapes[known]};
    else if (byte < 0x20 || byte == 0x7f)
      text += fmt::format("\\u{:04x}", byte);
    else
      text += value.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return text + '"';
}

}  // namespace rondo
