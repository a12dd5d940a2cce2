// Where a text comes from, and how it is read if it is too long to be held in memory: its files are read
// again, in blocks, each time it is used, and its ids lie in a file that is mapped. Digests are computed each
// time, so that a change in between is noticed. Next: data/text/corpus.h, which makes them.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/text/symbols.h"

namespace rondo {

/// Shows that of the `all` bytes of the files `done` have been read for what `what` says; may throw.
using ReadingProgress = std::function<void(const std::string& what, std::int64_t done, std::int64_t all)>;

/// How a text is read that may be long.
struct TextReading {
  std::uint64_t most_in_memory = any_size;  // bytes; a longer text is not held
  ReadingProgress progress{};               // of reading it; must stay callable
  /// In place of train.txt: shell patterns of files in the folder, which are one text, in C-locale order of
  /// their paths. A last line without a newline gets one.
  std::vector<std::string> train_files{};
};

// --- Blocks ---

/// A part of a text, of a few megabytes, cut so that its symbols are those which the whole text has there;
/// so several threads can work on a text.
struct Block {
  std::string text;
  LastLine last;                  // goes_on: the next block continues its last line
  std::int64_t lines_before = 0;  // line ends of the text before it
};
using UseBlock = std::function<void(Block)>;

class BlockCutter {
 public:
  /// `use` gets the blocks.
  BlockCutter(const Tokenization& tokenization, UseBlock use, std::size_t block_bytes = 4 << 20)
      : tokenization_(tokenization), use_(std::move(use)), block_bytes_(block_bytes) {}

  void add(std::string_view part);
  /// After the last part.
  void end();

 private:
  std::size_t place_to_cut() const;

  Tokenization tokenization_;
  UseBlock use_;
  std::size_t block_bytes_;
  std::string text_;
  std::size_t searched_ = 0;  // of text_: there is no place to cut
  std::int64_t lines_ = 0;
};

/// Passes a text in blocks, whether it is held in memory or not. `what` is done with it, for the progress.
void read_blocks(const Text& text, const Tokenization& tokenization, const std::string& what,
                 const UseBlock& use);

/// Work on the parts of a long text, several at a time, in separate threads; the results come in order.
template <class Result>
class InOrder {
 public:
  /// At most `threads` computations at once. `use` gets their results, in the order of add(), on the caller's
  /// thread.
  InOrder(int threads, std::function<void(Result)> use) : threads_(threads), use_(std::move(use)) {}

  /// Starts a computation, after the first of those that run has ended if they are `threads`. Throws what a
  /// computation or `use` has thrown.
  void add(std::function<Result()> compute) {
    if (running_.size() == static_cast<std::size_t>(threads_)) use_next();
    running_.push_back(
        std::async(threads_ > 1 ? std::launch::async : std::launch::deferred, std::move(compute)));
  }
  /// Waits for all of them.
  void finish() {
    while (!running_.empty()) use_next();
  }

 private:
  void use_next() {
    std::future<Result> first = std::move(running_.front());
    running_.pop_front();
    use_(first.get());
  }

  int threads_;
  std::function<void(Result)> use_;
  std::deque<std::future<Result>> running_;
};

// --- Files ---

/// Which lines or bytes of the files a text has.
struct TextPart {
  std::uint64_t begin = 0, end = any_size;  // normalised bytes
  std::int64_t block_lines = 0;             // above 0: of blocks of that many lines each tenth one, if it is
  bool is_held_out = false;                 // `is_held_out`, else the others
};

class TextSource {
 public:
  /// Reads the files once, in this order, for their digests, for what is normalised in them, and to refuse
  /// what is not text of the unit, or empty; `ends_lines`: a last line of a file gets a newline if it has
  /// none. Several files may be empty, if one is not. A pipe is held in memory. InputErrors of UnpackedFile
  /// and clean_text().
  TextSource(const std::vector<std::filesystem::path>& paths, Unit unit, bool ends_lines,
             const TextReading& reading, Pipes pipes = Pipes::refused);

  /// The files' names, for messages.
  std::string name() const;
  /// A part of the files; it is held in memory if the whole is.
  Text text(const std::string& name, const TextPart& part = {}) const;

  /// Passes the text in pieces of any length. InputError if a file has changed.
  void read_pieces(const std::string& what, const std::function<void(std::string_view)>& use) const;

  const std::vector<FileDigest>& files() const { return files_; }  // without empty ones
  const std::vector<std::string>& notes() const { return notes_; }
  std::uint64_t bytes() const { return bytes_; }  // of all files, normalised
  std::int64_t lines() const { return lines_; }   // line ends of all files
  /// Returns a SHA-256 of the content and the unit: texts have the same if and only if both are equal.
  std::string key() const;

 private:
  /// Passes the text of a file to `use`; returns the SHA-256 of its bytes. `read` are the bytes of the files
  /// before it, on the disk, and then those of this one, too.
  std::string read_file(TextFile& file, const std::string& what, std::int64_t& read,
                        const std::function<void(std::string_view)>& use) const;

  std::vector<FileDigest> files_;
  Unit unit_;
  bool ends_lines_;
  ReadingProgress progress_;
  std::vector<std::string> notes_{};
  std::uint64_t bytes_ = 0;
  std::int64_t disk_bytes_ = 0, lines_ = 0;
  std::shared_ptr<std::string> content_;  // null: too long
  TextPart part_{};
};

/// How much of a text is held out for validation: of ten blocks the last one.
constexpr std::int64_t blocks_per_held_out = 10;

// --- Ids ---

/// Counts of a text, made while it becomes ids.
struct IdCounts {
  std::int64_t unknowns = 0;  // ids of `<unk>`: written so in the text, or not in the vocabulary
  std::int64_t bytes = 0, first_bytes = 0;  // of the text, and those up to the end of its first symbol
};

/// The ids of a text: in memory, or in a file that is mapped, so that the operating system loads what is used
/// and can drop it again. They do not change; copies share the memory.
class TextIds : public std::span<const std::int32_t> {
 public:
  TextIds(std::vector<std::int32_t> ids = {});  // NOLINT: a vector is ids
  TextIds(std::shared_ptr<const std::int32_t> ids, std::size_t count)
      : span(ids.get(), count), memory_(std::move(ids)) {}

 private:
  std::shared_ptr<const void> memory_;
};

/// A text as ids.
struct EncodedText {
  TextIds ids{};
  IdCounts counts{};
};

/// Writes a file of ids, of 32 bits each in the machine's byte order; after them what was counted and the
/// SHA-256 of the ids. `write` passes the ids part by part and returns what it counted. Error as of
/// write_atomically().
using PassIds = std::function<void(std::span<const std::int32_t>)>;
void write_ids(const std::filesystem::path& path, const std::function<IdCounts(const PassIds&)>& write);
/// Maps such a file; nothing if it is not a complete, undamaged one, or cannot be read. Error if it cannot be
/// mapped.
std::optional<EncodedText> map_ids(const std::filesystem::path& path);

}  // namespace rondo
