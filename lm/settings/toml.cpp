// TOML: see toml.h. A reader of our own, because files may be hostile: it reads the text once and, since
// nothing is nested, needs no growing stack. A library for all of TOML is larger, and one that was tried
// aborted on such files.
#include "lm/settings/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {
namespace {

constexpr bool is_of_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {
    check_input(text.size() <= max_toml_bytes, "{}: {} bytes, and settings have at most {}: another file?",
                file, text.size(), max_toml_bytes);
  }

  std::vector<TomlKey> document() {
    if (text_.starts_with(byte_order_mark)) line_begin_ = at_ = byte_order_mark.size();
    for (skip_lines(); at_ < text_.size(); skip_lines()) {
      if (next() == '[')
        header();
      else
        key();
      skip_blanks();
      if (next() == '#') comment();
      if (at_ < text_.size() && !at_line_end()) fail(at_, "expected the end of the line, not {}", found());
    }
    return std::move(keys_);
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
    return {line_, 1 + std::ranges::count_if(before, [](char c) { return !continues_character(c); })};
  }

  template <class... Arguments>
  [[noreturn]] void fail(std::size_t at, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    throw InputError(fmt::format("{}: not valid TOML: {}", place_text(file_, position(at)),
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
    section_ = bare_name();
    while (next() == '.') {
      ++at_;
      section_ += '.' + bare_name();
    }
    if (next() != ']') fail(at_, "expected ']', not {}", found());
    ++at_;
    if (!names_.insert('[' + section_).second) fail(begin, "[{}] appears twice", excerpt(section_));
    keys_.push_back({section_ + '.', position(begin), {}, position(begin)});
  }

  /// `name = value`.
  void key() {
    const std::size_t begin = at_;
    const std::string name = bare_name(), full = section_.empty() ? name : section_ + '.' + name;
    if (next() != '=') fail(at_, "expected '=' after '{}', not {}", excerpt(full), found());
    ++at_;
    skip_blanks();
    if (!names_.insert(full).second) fail(begin, "'{}' appears twice", excerpt(full));
    const TomlPosition of_key = position(begin), of_value = position(at_);
    keys_.push_back({full, of_key, value(), of_value});
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
    if (next() != '[') return {{scalar()}};
    ++at_;
    TomlValue list{{}, true};
    for (skip_lines(); next() != ']'; skip_lines()) {
      list.scalars.push_back(scalar());
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

  /// A string in double quotes is one of JSON, which has the same escapes.
  std::string string() {
    const std::size_t begin = at_;
    const char quote = next();
    ++at_;
    while (next() != quote) {
      if (quote == '"' && next() == '\\') ++at_;
      if (at_ == text_.size() || at_line_end()) fail(begin, "this string has no {} at its end", quote);
      character();
    }
    ++at_;
    const std::string_view whole = text_.substr(begin, at_ - begin);
    if (quote == '\'') return std::string(whole.substr(1, whole.size() - 2));
    const nlohmann::json value = nlohmann::json::parse(whole, nullptr, false);
    if (value.is_discarded())
      fail(begin, "a tab or a bad escape in a string: \\ comes before one of btnfr\"\\ and uXXXX");
    return value.get<std::string>();
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
  std::string section_;
  std::vector<TomlKey> keys_;
  std::set<std::string> names_;  // "[section" and "section.key"
};

}  // namespace

std::string place_text(const std::string& file, const TomlPosition& it) {
  return fmt::format("{}:{}:{}", file, it.line, it.column);
}

std::vector<TomlKey> parse_toml(std::string_view text, const std::string& file) {
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
  std::string text = nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  constexpr char del = 0x7f;  // which JSON does not escape
  for (std::size_t at = 0; (at = text.find(del, at)) != std::string::npos;) text.replace(at, 1, "\\u007f");
  return text;
}

}  // namespace rondo
