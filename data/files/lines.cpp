// Lines, words, UTF-8; see data/files/lines.h.
#include "data/files/lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rondo {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view stripped(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> split_words(std::string_view text) { return split_at(text, is_space); }

bool has_word(std::string_view text, std::string_view word) {
  const std::vector<std::string_view> words = split_words(text);
  return std::ranges::find(words, word) != words.end();
}

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0;;) {
    const std::size_t tab = line.find('\t', begin);
    fields.push_back(line.substr(begin, tab - begin));
    if (tab == std::string_view::npos) return fields;
    begin = tab + 1;
  }
}

namespace {
template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, failure] = std::from_chars(text.data(), end, number);
  return read == end && failure == std::errc() ? std::optional(number) : std::nullopt;
}
}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) { return parse<std::int64_t>(text); }

std::optional<double> parse_number(std::string_view text) {
  const std::optional<double> number = parse<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() - at < length) return 0;

  // Only the second byte has a special range, which excludes overlong forms, surrogates and code points above
  // U+10FFFF.
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

void check_utf8(std::string_view text, const std::string& name, std::int64_t bytes_before,
                std::int64_t lines_before) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) throw_not_utf8(text, at, name, bytes_before, lines_before);
    at += length;
  }
}

void throw_not_utf8(std::string_view text, std::size_t at, const std::string& name, std::int64_t bytes_before,
                    std::int64_t lines_before) {
  const std::int64_t line = lines_before + std::ssize(split_lines(text.substr(0, at + 1)));
  const bool is_one_line = lines_before == 0 && text.find('\n') >= text.size() - 1;  // `name` may say which
  const bool is_utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  throw NotUtf8(fmt::format(
      "{}: not UTF-8 at byte {}{}: 0x{:02x}; convert it to UTF-8, as by: iconv -f {} -t UTF-8 FILE > NEW",
      name, bytes_before + std::int64_t(at), is_one_line ? "" : fmt::format(" (line {})", line),
      static_cast<unsigned char>(text[at]), is_utf16 ? "UTF-16" : "WINDOWS-1252"));
}

void check_is_text(std::string_view text, const std::string& name) try {
  check_utf8(text, name);
  const std::size_t nul = text.find('\0');
  check_input(nul == text.npos, "{}: a NUL byte, which text does not have: is it another file?", name);
} catch (const NotUtf8& error) {
  throw InputError(error.what());
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    valid += length > 0 ? text.substr(at, length) : "\xef\xbf\xbd";
    at += std::max<std::size_t>(length, 1);
  }
  return valid;
}

void check_kind(std::string_view bytes, const std::string& name) {
  using namespace std::string_view_literals;
  struct Kind {
    std::string_view begin, name, command;
  };
  static constexpr Kind kinds[] = {
      {"\x1f\x8b"sv, "gzip", "gzip -dc FILE"},       {"\x28\xb5\x2f\xfd"sv, "Zstandard", "zstd -dc FILE"},
      {"BZh"sv, "bzip2", "bzip2 -dc FILE"},          {"\xfd\x37zXZ\0"sv, "xz", "xz -dc FILE"},
      {"\x04\x22\x4d\x18"sv, "LZ4", "lz4 -dc FILE"}, {"7z\xbc\xaf\x27\x1c"sv, "7-Zip", "7z x -so FILE"},
      {"PK\x03\x04"sv, "ZIP", "unzip -p FILE"},      {"%PDF-"sv, "PDF", "pdftotext FILE -"},
  };
  for (const Kind& kind : kinds)
    check_input(!bytes.starts_with(kind.begin), "{}: its format is {}; take the text out of it: {} > NEW",
                name, kind.name, kind.command);
  constexpr std::size_t length = 8;  // of the number that begins a safetensors file, before its JSON header
  const bool is_safetensors =
      bytes.size() > length && bytes[length - 1] == '\0' && bytes.substr(length).starts_with("{\"");
  check_input(!is_safetensors, "{}: looks like a safetensors file; give a text", name);
}

namespace {

/// Returns whether a terminal would obey this character of UTF-8, or XML would refuse it.
bool is_control(std::string_view character) {
  using Range = std::pair<std::string_view, std::string_view>;
  using namespace std::string_view_literals;
  // U+0000 to U+001F and U+007F to U+009F, Unicode's category Cc; U+202A to U+202E and U+2066 to U+2069,
  // which turn the direction of what follows (Unicode, annex 9); U+FFFE and U+FFFF, which are no characters.
  static constexpr Range ranges[] = {{"\0"sv, "\x1f"sv},
                                     {"\x7f"sv, "\x7f"sv},
                                     {"\xc2\x80"sv, "\xc2\x9f"sv},
                                     {"\xe2\x80\xaa"sv, "\xe2\x80\xae"sv},
                                     {"\xe2\x81\xa6"sv, "\xe2\x81\xa9"sv},
                                     {"\xef\xbf\xbe"sv, "\xef\xbf\xbf"sv}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const Range& it) { return it.first <= character && character <= it.second; });
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
    if (length > 0 && !is_control(character))
      line += character;
    else
      for (const char byte : character) line += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    at += character.size();
  }
  return line;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 100;
  if (text.size() <= most) return printable(text);
  std::size_t end = most;
  while (end > most - 4 && continues_character(text[end])) --end;  // do not cut a character
  return printable(text.substr(0, end)) + "...";
}

}  // namespace rondo
