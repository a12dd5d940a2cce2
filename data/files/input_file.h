// Reading files. A file is read in parts, so that no input hangs (a pipe that nobody writes into), never ends
// (a device) or exceeds the memory; it may be packed. Next: data/text/source.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "data/files/lines.h"
#include "data/files/sha256.h"

namespace rondo {

/// A file that was read, and the SHA-256 of its bytes.
struct FileDigest {
  std::string path, sha256;
};

/// Whether anything of this name exists; opening it tells what it is.
bool file_is_there(const std::filesystem::path& path);
/// Throws InputError "FILE: missing WHY; its folder has A, B", with up to five files of similar names, unless
/// a file is there.
void check_is_there(const std::filesystem::path& path, const std::string& why = "");
/// Throws InputError "FOLDER: no such folder WHY" unless it is a folder.
void check_is_folder(const std::filesystem::path& path, const std::string& why = "");

/// Whether a file may be a pipe: yes if the user has just named it, such as <(command); no if a run has
/// recorded it, because nobody may be writing into it.
enum class Pipes { accepted, refused };

/// A file of the system, which closes itself.
class OpenFile {
 public:
  /// Opens it with the flags of open(2); if is_open() is false, errno says why.
  OpenFile(const std::filesystem::path& path, int flags);
  OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ~OpenFile();
  operator int() const { return file_; }  // NOLINT: for calls of the system
  bool is_open() const { return file_ >= 0; }
  /// Closes it now. Returns whether that succeeded: a full disk may be reported only here.
  bool close();

 private:
  int file_;
};

class InputFile {
 public:
  /// Opens it; links are followed. InputError if it is missing, unreadable, a folder or a device, or a pipe
  /// where these are refused.
  explicit InputFile(const std::filesystem::path& path, Pipes pipes = Pipes::refused);

  /// The size when it was opened, in bytes; 0 for a pipe.
  std::uint64_t size() const { return size_; }
  /// Fills `to` with the bytes from `begin` on. InputError if the file is, or has become, shorter. Not for
  /// pipes.
  void read(std::uint64_t begin, std::span<char> to) const;
  /// Reads the next bytes, from the first one on, and returns their number; 0 at the end.
  std::size_t read_next(std::span<char> to);

  std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
  OpenFile file_;
  std::uint64_t size_ = 0;
};

constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();
/// Returns the bytes of a file, unpacked if its name says that it is packed; there may be none. Throws
/// InputError as UnpackedFile does, and for more than `most` bytes, where it stops reading. For texts:
/// read_text() of data/text/text.h.
std::string read_file(const std::filesystem::path& path, Pipes pipes = Pipes::refused,
                      std::uint64_t most = any_size);

/// SHA-256 of the bytes from `begin` to `end`, and then of `last`, in hexadecimal.
std::string sha256_hex(const InputFile& file, std::uint64_t begin = 0, std::uint64_t end = any_size,
                       std::string_view last = "");

/// The endings of packed files.
constexpr std::string_view packed_suffixes[] = {".gz", ".zst"};
bool is_packed(const std::filesystem::path& path);
/// Returns the path of the packed file that lies in place of a file, as FILE.gz; else that of the file
/// itself. InputError if both are there.
std::filesystem::path plain_or_packed(const std::filesystem::path& file);
/// Returns whether this program was built with the library that reads files of this ending: zlib or libzstd.
bool can_unpack(std::string_view suffix);

class Unpacker;

/// A file of any length, read from beginning to end, and decompressed if its name ends in .gz or .zst, by
/// zlib and libzstd, which are optional.
class UnpackedFile {
 public:
  /// Throws InputError as InputFile does, and if the library for its ending is missing.
  explicit UnpackedFile(const std::filesystem::path& path, Pipes pipes = Pipes::refused);
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  /// The next bytes: a megabyte or more, except at the end; none after it. InputError for a packed file that
  /// is damaged or incomplete.
  std::string read();

  /// Return the size of the file on the disk, and how much of it has been read.
  std::uint64_t size() const { return file_.size(); }
  std::uint64_t position() const { return position_; }
  /// SHA-256 of the file on the disk; call it after the end.
  std::string sha256() { return digest_.hex(); }

 private:
  InputFile file_;
  std::unique_ptr<Unpacker> unpacker_;  // null: not packed
  Sha256 digest_;
  std::uint64_t position_ = 0;
};

}  // namespace rondo
