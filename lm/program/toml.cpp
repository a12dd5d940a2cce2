// TOML: see toml.h. A reader of our own, because files may be hostile: it reads the text once and, since
// nothing is nested, needs no growing stack. A library for all of TOML is larger, and one that was tried
// aborted on such files.
#include "lm/program/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "data/text.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// The letters after a backslash, and what they stand for.
constexpr std::string_view escapes = "btnfr\"\\", escaped = "\b\t\n\f\r\"\\";

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_of_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// Code points except surrogates.
bool is_unicode(std::uint32_t code) { return code < 0xd800 || (code > 0xdfff && code <= 0x10ffff); }

std::string utf8_of(std::uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

/// Skips digits with single underscores between them; false if there are none.
bool skip_digits(std::string_view word, std::size_t& at) {
  const auto digit = [&](std::size_t i) { return i < word.size() && is_digit(word[i]); };
  if (!digit(at)) return false;
  while (digit(at) || (at < word.size() && word[at] == '_' && digit(at + 1))) ++at;
  return true;
}

enum class Number { none, integer, floating };

/// The kind of number that `word` is in TOML.
Number number_kind(std::string_view word) {
  std::size_t at = word.starts_with('+') || word.starts_with('-') ? 1 : 0;
  const std::size_t first = at;
  if (word.substr(at) == "inf" || word.substr(at) == "nan") return Number::floating;
  if (!skip_digits(word, at) || (word[first] == '0' && at > first + 1)) return Number::none;
  if (at == word.size()) return Number::integer;
  if (word[at] == '.' && !skip_digits(word, ++at)) return Number::none;
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    if (!skip_digits(word, at)) return Number::none;
  }
  return at == word.size() ? Number::floating : Number::none;
}

/// The unsupported kind of TOML value that `word` begins like; empty: none.
std::string_view unsupported_kind(std::string_view word) {
  const std::size_t digits =
      static_cast<std::size_t>(std::find_if_not(word.begin(), word.end(), is_digit) - word.begin());
  const char next = digits < word.size() ? word[digits] : '\0';
  if ((digits == 4 && next == '-') || (digits == 2 && next == ':')) return "dates and times";
  if (word.starts_with("0x")) return "hexadecimal integers";
  if (word.starts_with("0o")) return "octal integers";
  if (word.starts_with("0b")) return "binary integers";
  return {};
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
    std::size_t section = 0;
    for (skip_lines(); at_ < text_.size(); skip_lines()) {
      if (next() == '[')
        section = header();
      else
        key(section);
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
  [[noreturn]] void refuse(std::size_t at, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    const TomlPosition where = position(at);
    throw InputError(fmt::format("{}:{}:{}: {}", file_, where.line, where.column,
                                 fmt::format(text, std::forward<Arguments>(arguments)...)));
  }
  template <class... Arguments>
  [[noreturn]] void fail(std::size_t at, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    refuse(at, "not valid TOML: {}", fmt::format(text, std::forward<Arguments>(arguments)...));
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

  /// `[name]` or `[table.name]`. Returns its place in sections_.
  std::size_t header() {
    const std::size_t begin = at_++;
    if (next() == '[') refuse(begin, "arrays of tables, as in [[name]], are not supported");
    std::string name = bare_name();
    if (skip_dot()) {
      if (const auto outer = names_.find(name); outer != names_.end() && outer->second == 0)
        fail(begin, "'{}' is a value already", excerpt(name));
      name += '.' + bare_name();
    }
    if (next() == '.') refuse(begin, "tables in tables in tables, as in [name.name.name], are not supported");
    if (next() != ']') fail(at_, "expected ']', not {}", found());
    ++at_;
    if (!names_.emplace(name, sections_.size()).second) fail(begin, "[{}] appears twice", excerpt(name));
    sections_.push_back({name, position(begin), {}});
    return sections_.size() - 1;
  }

  /// `name = value`; before all sections also `section.name = value`.
  void key(std::size_t section) {
    const std::size_t begin = at_;
    std::string name = bare_name();
    if (skip_dot()) {
      if (section != 0) refuse(begin, "dotted keys in a section are not supported");
      section = section_of_dotted_key(name, begin);
      name = bare_name();
      if (skip_dot()) refuse(begin, "keys of more than two parts are not supported");
    }
    const std::string full = section == 0 ? name : sections_[section].name + '.' + name;
    if (next() != '=') fail(at_, "expected '=' after '{}', not {}", excerpt(full), found());
    ++at_;
    skip_blanks();
    if (!names_.emplace(full, 0).second) fail(begin, "'{}' appears twice", excerpt(full));
    const TomlPosition of_key = position(begin), of_value = position(at_);
    sections_[section].keys.push_back({std::move(name), of_key, value(), of_value});
  }

  std::size_t section_of_dotted_key(const std::string& name, std::size_t begin) {
    const auto [it, is_new] = names_.emplace(name, sections_.size());
    if (is_new) sections_.push_back({name, position(begin), {}});
    if (it->second == 0) fail(begin, "'{}' is a value already", excerpt(name));
    return it->second;
  }

  /// A name, and the blanks around it.
  std::string bare_name() {
    skip_blanks();
    const std::size_t begin = at_;
    while (is_of_name(next())) ++at_;
    if (at_ == begin && (next() == '"' || next() == '\'')) refuse(at_, "quoted keys are not supported");
    if (at_ == begin) fail(at_, "expected a name, not {}", found());
    std::string name(text_.substr(begin, at_ - begin));
    skip_blanks();
    return name;
  }

  bool skip_dot() {
    if (next() != '.') return false;
    ++at_;
    return true;
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
    if (next() == '[') refuse(at_, "lists in lists are not supported");
    if (next() == '{') refuse(at_, "inline tables are not supported");
    if (next() == '"' || next() == '\'') return string();
    return number_or_boolean();
  }

  std::string string() {
    const std::size_t begin = at_;
    const char quote = next();
    if (text_.substr(at_).starts_with(std::string(3, quote)))
      refuse(begin, "multi-line strings are not supported");
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
    const std::size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    const std::string_view hexadecimal = text_.substr(std::min(at_ + 1, text_.size()), digits);
    std::uint32_t code = 0;
    const char* const end = hexadecimal.data() + hexadecimal.size();
    const auto [after, error] = std::from_chars(hexadecimal.data(), end, code, 16);
    if (digits == 0 || hexadecimal.size() < digits || error != std::errc() || after != end ||
        !is_unicode(code))
      fail(begin, "a bad escape: \\ comes before one of {}, uXXXX and UXXXXXXXX", escapes);
    at_ += 1 + digits;
    return utf8_of(code);
  }

  TomlScalar number_or_boolean() {
    const std::size_t begin = at_;
    while (is_of_name(next()) || next() == '.' || next() == '+' || next() == ':') ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) fail(begin, "expected a value, not {}", found());
    if (word == "true" || word == "false") return word == "true";
    if (const std::string_view kind = unsupported_kind(word); !kind.empty())
      refuse(begin, "{} are not supported", kind);
    const Number kind = number_kind(word);
    if (kind == Number::none) fail(begin, "'{}' is no value; a string needs quotes", excerpt(word));

    std::string plain;  // as std::from_chars reads it
    std::copy_if(word.begin(), word.end(), std::back_inserter(plain), [](char c) { return c != '_'; });
    if (plain.front() == '+') plain.erase(0, 1);
    const auto converted = [&](auto number) -> TomlScalar {
      if (std::from_chars(plain.data(), plain.data() + plain.size(), number).ec != std::errc())
        fail(begin, "{} is out of the range of 64 bits", excerpt(word));
      return number;
    };
    return kind == Number::integer ? converted(std::int64_t{0}) : converted(0.0);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, line_begin_ = 0;
  std::int64_t line_ = 1;
  std::vector<TomlSection> sections_;
  /// All names: "section" with its place in sections_, and "section.key" with 0.
  std::map<std::string, std::size_t> names_;
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
