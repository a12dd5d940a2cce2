// Texts and their splits. Every text that comes from outside is opened here, be it of sentences, words, pairs
// or rules: a packed one is unpacked, a byte-order mark and CRLF are normalised, and what was changed is
// noted; a file of another kind is refused. Lines that somebody types: lm/program/files.h. Read next:
// data/text/symbols.h; texts that do not fit into memory: data/text/source.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/files/input_file.h"
#include "data/files/lines.h"

namespace rondo {

enum class Unit {
  words,       // separated by ASCII white space; every line, even an empty one, ends in `<eos>`
  characters,  // Unicode code points; the newline is one of them
  bytes,       // as they are in the file
  pieces       // of words, learnt from the training text: data/text/pieces.h; the newline is one of them
};
inline std::vector<std::string> names_of(Unit) { return {"words", "characters", "bytes", "pieces"}; }

/// Whether text of this unit must be UTF-8.
constexpr bool is_utf8(Unit unit) { return unit == Unit::characters || unit == Unit::pieces; }

class TextSource;

/// Text that is ready to be divided into symbols.
struct Text {
  std::string name{};                // for messages: printable
  std::string content{};             // normalised, unless the unit is bytes: there every byte counts
  std::string sha256{};              // of the original bytes
  std::vector<std::string> notes{};  // what was normalised
  /// Where a text comes from that is not held in memory, whose content is then empty: data/text/source.h.
  /// Null for one that is held. read_blocks() reads both.
  std::shared_ptr<const TextSource> source{};
};

/// Normalises text that arrives in parts: removes a UTF-8 byte-order mark at its begin and turns CRLF into LF
/// (a lone CR stays). InputErrors of check_kind(), and NotUtf8 where the unit must be UTF-8; bytes stay as
/// they are.
class Normaliser {
 public:
  Normaliser(std::string name, Unit unit) : name_(std::move(name)), unit_(unit) {}
  /// The next part, normalised. The first one has the whole mark, if there is one.
  std::string next(std::string part);
  /// The rest, after the last part.
  std::string end() { return normalised(held_.size()); }
  /// A sentence, which begins with the name, for each change.
  std::vector<std::string> notes() const;

 private:
  std::string normalised(std::size_t bytes);

  std::string name_;
  Unit unit_;
  std::string held_;  // what may be a part of a character, or of CRLF
  bool had_mark_ = false;
  std::int64_t bytes_ = 0, lines_ = 0, line_ends_ = 0;  // normalised so far; line ends that were CRLF
};
/// A text of any length in a file, packed or not, read from beginning to end.
class TextFile : public UnpackedFile {
 public:
  /// Throws InputError as UnpackedFile does.
  explicit TextFile(const std::filesystem::path& path, Unit unit = Unit::words, Pipes pipes = Pipes::refused)
      : UnpackedFile(path, pipes), normaliser_(printable(path.string()), unit) {}

  /// The next part, normalised; none after the end. InputErrors of UnpackedFile and Normaliser.
  std::string read();
  std::vector<std::string> notes() const { return normaliser_.notes(); }

 private:
  Normaliser normaliser_;
  bool ended_ = false;
};

/// Reads a whole text, which may be empty; the digest is that of what is unpacked. InputErrors of TextFile,
/// for more than `most` bytes, and for a line of more than longest_line bytes.
Text read_text(const std::filesystem::path& path, Pipes pipes = Pipes::refused, std::uint64_t most = any_size,
               Unit unit = Unit::words);

/// Passes each line of a text to `use`, without its newline, and whether it had one: the last line may have
/// none. Holds about one line in memory. InputErrors of TextFile, and for a line of more than longest_line
/// bytes.
void read_lines(const std::filesystem::path& path,
                const std::function<void(std::string_view, bool ended)>& use);

/// A text as it is read from a file: with the digest of `raw`, without a byte-order mark, lines end in "\n".
/// InputErrors of Normaliser.
Text normalised(std::string raw, const std::string& name, Unit unit);
/// The same, and InputError if it is empty.
Text clean_text(std::string raw, const std::string& name, Unit unit);

/// Reads a file of sentences, also one of words. InputErrors of read_text() and check_sentences(); for what
/// is not UTF-8, unless the unit is bytes, with `advice`.
Text read_sentences(const std::filesystem::path& path, Unit unit, const std::string& advice = "");
/// Throws InputError for an empty text and, unless the unit is bytes, for NUL bytes and for what is not
/// UTF-8.
void check_sentences(const Text& text, Unit unit);

/// Calls use(item) for each of the items, of which one may be bad: an InputError leaves it out. Returns what
/// the user should know, "2 of 10 utterances are left out: WHY; WHY", and empty if all are used. InputError
/// if none is. `use` must have done nothing when it throws.
template <class Items, class Use>
std::string use_each(const Items& items, const char* what, Use use) {
  constexpr std::int64_t most_named = 3;
  std::int64_t left_out = 0;
  std::string why;
  for (const auto& it : items) try {
      use(it);
    } catch (const InputError& error) {
      if (++left_out <= most_named) why += (left_out > 1 ? "; " : "") + std::string(error.what());
    }
  if (left_out == 0) return "";
  check_input(left_out < std::ssize(items), "{}", why);
  return fmt::format("{} of {} {} are left out: {}", left_out, items.size(), what, why);
}

/// The note about a test text that may be missing and is; `key` is the setting that names it, empty: none.
std::string note_of_missing_test(const std::filesystem::path& path, std::string_view key = {});

/// Splits a passage into sentences, each of its words; the words `.`, `?` and `!` end a sentence.
std::vector<std::vector<std::string_view>> split_sentences(std::string_view passage);

enum class Split { train, valid, test };
inline std::vector<std::string> names_of(Split) { return {"train", "valid", "test"}; }
Split split_from_string(std::string_view name);  // InputError names the choices

/// The training, validation and test part of a corpus, which may lack the last.
template <class Part>
struct Splits {
  Part train{}, valid{};
  std::optional<Part> test{};
  std::vector<FileDigest> files{};   // every file that was read
  std::vector<std::string> notes{};  // for the user: what was normalised, how it was split

  const Part& at(Split split) const {
    check_input(split != Split::test || test.has_value(), "there is no test text: choose train or valid");
    return split == Split::train ? train : split == Split::valid ? valid : *test;
  }
  bool has(std::string_view split) const {
    return split == "test" ? test.has_value() : split == "train" || split == "valid";
  }
  /// For setting it.
  Part& operator[](Split split) {
    if (split == Split::test) return test ? *test : test.emplace();
    return split == Split::train ? train : valid;
  }
  /// Adds the digest and the notes of a file that was read; returns the text.
  Text record(Text text) {
    files.push_back({text.name, text.sha256});
    notes.insert(notes.end(), text.notes.begin(), text.notes.end());
    return text;
  }
};

}  // namespace rondo
