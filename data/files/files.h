// Writing files safely: a file is replaced atomically, so that a killed run never leaves a broken one, or
// extended by whole lines. Symbolic links are never written through: a replaced link is removed and its
// target stays as it is; a link that should be extended is refused. The folder may be a link. Formats of
// tensors: data/files/safetensors.h. Reading whole files: data/files/input_file.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "data/files/input_file.h"

namespace rondo {

/// Replaces a file by what `write` passes, piece by piece: writes FILE.partial beside it, fsyncs, renames,
/// fsyncs the folder. Of several writers each has a file of its own, such as FILE.2.partial: the last one
/// that is complete stays. Throws Error naming the file and the reason (disk full, no permission); the old
/// file is then intact.
using WritePiece = std::function<void(std::string_view)>;
void write_atomically(const std::filesystem::path& path, const std::function<void(const WritePiece&)>& write);
void write_atomically(const std::filesystem::path& path, std::string_view bytes);
/// So that a power cut does not lose the name of a complete file or folder. Error if that fails.
void sync_folder_of(const std::filesystem::path& path);

/// Whether a line, with its newline or without, is complete: a killed process may have written a part.
using IsWhole = std::function<bool(std::string_view)>;

/// Appends `line` and a newline to a file, which is created if there is none. A last line without a newline
/// gets one if it is complete, else it is removed. Error naming the file and the reason; InputError if it is
/// not a file of lines, or a link.
void append_line(const std::filesystem::path& path, std::string_view line, const IsWhole& is_whole);

/// Held while a process writes into a folder, so that no other process does. Released when the process ends,
/// however it ends.
class FolderLock {
 public:
  /// Throws InputError, "another process ...", if one holds it.
  explicit FolderLock(const std::filesystem::path& folder, const std::string& holder = "trains this run");
  /// Waits until no other process holds it.
  static FolderLock wait_for(const std::filesystem::path& folder);

 private:
  explicit FolderLock(OpenFile file) : file_(std::move(file)) {}
  OpenFile file_;
};

/// A file that only grows, by whole lines (log.jsonl).
class LineFile {
 public:
  /// Opens for appending: creates the file, or truncates it to `position` bytes or, if it is shorter, after
  /// its last whole line. Error if that fails. InputError, without truncating, if it is not a file of lines,
  /// a link, or no whole line ends there, because somebody has changed it.
  LineFile(const std::filesystem::path& path, std::int64_t position, const IsWhole& is_whole);
  /// Throws the InputErrors of the constructor and changes nothing.
  static void check_goes_on(const std::filesystem::path& path, std::int64_t position,
                            const IsWhole& is_whole);

  /// Appends `line` and a newline in one write. Error if the disk is full.
  void append(std::string_view line);
  /// Writes everything to the disk and returns the size in bytes, which a saved state records.
  std::int64_t sync();

 private:
  std::filesystem::path path_;
  OpenFile file_;
  std::int64_t position_ = 0;
};

}  // namespace rondo
