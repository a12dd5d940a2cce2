// Files and text: reading a file whole, SHA-256, line ends and byte-order marks, strict UTF-8.
// Changes are reported as notes. Read next: data/text/symbols.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/error.h"

struct evp_md_ctx_st;  // of libcrypto

namespace rondo {

/// The bytes of a file (or pipe), unchanged; may be empty. InputError if it is missing, unreadable, a folder,
/// or has more than `most` bytes; then it stops reading there.
std::string read_file(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

/// SHA-256 (FIPS 180-4) of data that arrives in parts.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  /// In lower-case hexadecimal. Ends the computation; call it once.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};
std::string sha256_hex(std::string_view bytes);

/// Normalises text that arrives in parts: removes a UTF-8 byte-order mark at its begin and turns CRLF into LF
/// (a lone CR stays).
class Normaliser {
 public:
  /// The next part, normalised. The first one has the whole mark, if there is one.
  std::string next(std::string part);
  /// The rest, after the last part.
  std::string end();
  /// Adds a sentence to `notes`, which begins with `name`, for each change.
  void note(const std::string& name, std::vector<std::string>& notes) const;

 private:
  bool is_first_ = true, had_mark_ = false;
  bool holds_return_ = false;  // a CR that ended the last part
  std::size_t line_ends_ = 0;  // that were CRLF
};
/// The same for a whole text. Removes a UTF-8 byte-order mark and turns CRLF into LF (a lone CR stays). Adds
/// a sentence to `notes`, which begins with `name`, for each of these changes.
std::string normalise_text(std::string text, const std::string& name, std::vector<std::string>& notes);

/// The number of bytes of the UTF-8 sequence that begins at `at` (1 to 4), or 0 if there is none. Strict
/// (Unicode 15, table 3-7): no overlong form, no surrogate, nothing above U+10FFFF, nothing truncated. Needs
/// at < text.size().
std::size_t utf8_length(std::string_view text, std::size_t at);

/// What check_utf8() throws: a caller may add advice, such as another unit.
class NotUtf8 : public InputError {
 public:
  using InputError::InputError;
};

/// NotUtf8 with the byte offset (from 0) and the line (from 1) of the first invalid UTF-8.
void check_utf8(std::string_view text, const std::string& name);
/// The same for text that arrives in parts.
class Utf8Check {
 public:
  explicit Utf8Check(std::string name) : name_(std::move(name)) {}
  void add(std::string_view part);
  /// After the last part.
  void end();

 private:
  void check(bool is_last);

  std::string name_, rest_;  // not yet checked
  std::size_t bytes_ = 0;    // checked, and their line ends
  std::int64_t lines_ = 0;
};
/// Of the text after `bytes_before` bytes with `lines_before` line ends.
[[noreturn]] void throw_not_utf8(std::string_view text, std::size_t at, const std::string& name,
                                 std::size_t bytes_before = 0, std::int64_t lines_before = 0);

/// InputError "NAME: line N: ..." for text that is not UTF-8, with the remedy `convert`, and for a NUL byte,
/// which files of other kinds have.
void check_is_text(std::string_view text, const std::string& name, const std::string& convert);

/// `text` with U+FFFD, the replacement character, in place of each byte that is not UTF-8.
std::string replace_invalid_utf8(std::string_view text);

/// `text` for a line on a terminal: control characters, and bytes that are not UTF-8, become `\xNN`.
std::string printable(std::string_view text);
/// The same for text that may be long: at most about the first hundred bytes, then "...".
std::string excerpt(std::string_view text);

/// The note about a test text that may be missing and is; `key` is the setting that names it, empty: none.
std::string note_of_missing_test(const std::filesystem::path& path, std::string_view key = {});

/// The lines of a text without their newlines; a last line need not end in one.
std::vector<std::string_view> split_lines(std::string_view text);

/// ASCII white space in any locale: space, tab, newline, vertical tab, form feed, carriage return.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// A line without the white space around it.
std::string_view stripped(std::string_view line);

/// Splits a text at white space.
std::vector<std::string_view> words_of(std::string_view text);
/// Whether a word ends the sentence that it stands in: `.`, `?` or `!`.
inline bool ends_sentence(std::string_view word) { return word == "." || word == "?" || word == "!"; }

}  // namespace rondo
