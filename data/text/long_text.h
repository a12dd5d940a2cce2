// A text that is too long to be held in memory: its files are read again, in blocks, each time it is used.
// Its digests are computed each time, so that a change in between is noticed. Next: data/text/corpus.h,
// which makes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "data/text/text.h"
#include "data/text/text_blocks.h"

namespace rondo {

struct FileDigest {
  std::string path;
  std::string sha256;
};

/// Shows that of the `all` bytes of the files `done` have been read for what `what` says; may throw.
using ReadingProgress = std::function<void(const std::string& what, std::int64_t done, std::int64_t all)>;

class LongText {
 public:
  /// Which lines or bytes of the files a text has.
  struct Part {
    std::uint64_t begin = 0, end = std::numeric_limits<std::uint64_t>::max();  // normalised bytes
    std::int64_t block_lines = 0;  // above 0: of blocks of that many lines each tenth one, if it is
    bool is_held_out = false;      // `is_held_out`, else the others
  };

  /// Reads the files once, in this order, for their digests, for what is normalised in them, and to refuse
  /// what is not text of the unit; `ends_lines`: a last line of a file gets a newline if it has none.
  /// `progress` must stay callable. InputErrors of UnpackedFile and clean_text().
  LongText(const std::vector<std::filesystem::path>& paths, Unit unit, bool ends_lines,
           ReadingProgress progress);

  /// Another part of the same files. files(), bytes() and lines() are still those of the whole files.
  LongText part(const Part& part) const;

  /// InputError if a file has changed.
  void read(const Tokenization& tokenization, const std::string& what, const UseBlock& use) const;
  /// The same in pieces of any length.
  void read_pieces(const std::string& what, const std::function<void(std::string_view)>& use) const;

  const std::vector<FileDigest>& files() const { return files_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::uint64_t bytes() const { return bytes_; }  // of all files, normalised
  std::int64_t lines() const { return lines_; }   // line ends of all files
  /// The same for texts of the same content alone, and their unit: SHA-256.
  std::string key() const;

 private:
  /// Passes the bytes of a file to `use_raw`, and its normalised text to `use`, both in pieces; returns the
  /// SHA-256 of the bytes. `read` are those of the files before it, on the disk, and then those of this one,
  /// too.
  std::string read_file(const std::string& path, const std::string& what, std::int64_t& read,
                        Normaliser& normaliser, const std::function<void(const std::string&)>& use_raw,
                        const std::function<void(std::string_view)>& use) const;

  std::vector<FileDigest> files_;
  Unit unit_;
  bool ends_lines_;
  ReadingProgress progress_;
  std::vector<std::string> notes_{};
  std::uint64_t bytes_ = 0;
  std::int64_t disk_bytes_ = 0, lines_ = 0;
  Part part_{};
};

/// How much of a text is held out for validation: of ten blocks the last one.
constexpr std::int64_t blocks_per_held_out = 10;

}  // namespace rondo
