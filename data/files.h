// Files as `lm` writes them: replaced so that a killed run never leaves a broken one, or grown by whole
// lines, and then read line by line. A symbolic link in the place of a file is never written through: one
// that is replaced goes, and what it points to stays as it is; one that should grow is refused. The folder
// may be a link. Deliberately without formats: safetensors.h, settings.h and run_folder.h have those;
// data/text.h reads whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace rondo {

/// Replaces a file by `pieces`, one after the other: writes FILE.partial beside it, fsyncs, renames, fsyncs
/// the folder. Error naming the file and the reason (disk full, no permission); what the file held before is
/// then intact.
void write_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces);
void write_atomically(const std::filesystem::path& path, std::string_view bytes);
/// The same of what `write` hands over piece by piece, for what is too long to be held at once.
using Pieces = std::function<void(std::string_view)>;
void write_atomically(const std::filesystem::path& path, const std::function<void(const Pieces&)>& write);

/// No line is longer: what is, is no file of lines.
constexpr std::size_t longest_line = 16 << 20;

/// Calls `use` with each line of a file, without its newline, and whether it had one: a last line may have
/// none. Holds no more than a line at once. InputError, naming the file, if it cannot be opened, is no file
/// but a folder, a device or a pipe, or has a longer line.
void read_lines(const std::filesystem::path& path,
                const std::function<void(std::string_view, bool ended)>& use);

/// Whether a line, with its newline or without, is all that was written of it: a process that was killed may
/// have left a part.
using IsWhole = std::function<bool(std::string_view)>;

/// Appends `line` and a newline to a file, which it makes if there is none. A last line without its newline
/// gets it if it is whole, or else gives way. Error naming the file and the reason; InputError if it is no
/// file of lines, or a link.
void append_line(const std::filesystem::path& path, std::string_view line, const IsWhole& is_whole);

/// Held while a process writes into a folder, so that no second one does. Ends with the process, however it
/// ends.
class FolderLock {
 public:
  /// InputError if another process holds it.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

/// A file that only grows, a whole line at a time (log.jsonl).
class LineFile {
 public:
  /// Opens for appending: creates the file, or cuts it to `position` bytes or, where it has lost lines,
  /// behind the last whole one. Error if that fails; InputError, and nothing is cut, if it is no file of
  /// lines, a link, or no whole line ends there, as somebody has changed it.
  LineFile(const std::filesystem::path& path, std::int64_t position, const IsWhole& is_whole);
  /// The InputErrors of opening it, which changes nothing.
  static void check_goes_on(const std::filesystem::path& path, std::int64_t position,
                            const IsWhole& is_whole);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// Appends `line` and a newline in one write. Error when the disk is full.
  void append(std::string_view line);
  /// Brings everything to the disk and returns the size in bytes: what a saved state records.
  std::int64_t sync();

 private:
  std::filesystem::path path_;
  int file_;
  std::int64_t position_;
};

}  // namespace rondo
