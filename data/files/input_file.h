// Regular files of known size, open for reading: their size is checked first and they are read in parts, so
// that no input hangs (a pipe), never ends (a device) or exceeds the memory; and files that may be packed.
// Texts that a user names may be pipes: read_file of data/text/text.h reads those. Next:
// data/text/long_text.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/text/text.h"

namespace rondo {

/// Whether anything of this name exists; opening it tells what it is.
bool file_is_there(const std::filesystem::path& path);
/// Where a missing file may be meant: "; FOLDER has one: ...", if a folder beside it has a file of its name;
/// else empty.
std::string elsewhere_text(const std::filesystem::path& missing);

class InputFile {
 public:
  /// Opens it; links are followed. InputError if it is missing, unreadable, or not a regular file.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// In bytes, at the time when it was opened.
  std::uint64_t size() const { return size_; }
  /// Fills `to` with the bytes from `begin` on. InputError if the file is, or has become, shorter.
  void read(std::uint64_t begin, std::span<char> to) const;

  std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
  int file_;
  std::uint64_t size_ = 0;
};

/// The bytes of a regular file. InputError, before any is read, if there are more than `most`.
std::string read_regular_file(const std::filesystem::path& path, std::uint64_t most);

/// SHA-256 of the bytes from `begin` on, in hexadecimal.
std::string sha256_hex(const InputFile& file, std::uint64_t begin = 0);

/// Whether this program was built with zlib; with libzstd.
bool has_zlib();
bool has_zstd();

/// The endings of packed files.
constexpr std::string_view packed_suffixes[] = {".gz", ".zst"};
bool is_packed(const std::filesystem::path& path);
/// Its name without such an ending.
std::string unpacked_name(const std::filesystem::path& path);

class Unpacker;

/// A file of any length, read from beginning to end, and decompressed if its name ends in .gz or .zst, by
/// zlib and libzstd, which are optional.
class UnpackedFile {
 public:
  /// InputErrors of InputFile, and if the library for its ending is missing.
  explicit UnpackedFile(const std::filesystem::path& path);
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  /// The next bytes: a megabyte or more, except at the end; none after it. InputError for a packed file that
  /// is damaged or incomplete.
  std::string read();

  /// Of the file on the disk: its size, and how much of that has been read.
  std::uint64_t size() const { return file_.size(); }
  std::uint64_t position() const { return position_; }
  /// SHA-256 of the file on the disk; after the end.
  std::string sha256() { return digest_.hex(); }

 private:
  InputFile file_;
  std::unique_ptr<Unpacker> unpacker_;  // null: not packed
  Sha256 digest_;
  std::uint64_t position_ = 0;
};

/// The bytes of a whole file, unpacked; it may be a pipe, unless it is packed. InputErrors of UnpackedFile
/// and of read_file() of data/text/text.h.
std::string read_file_unpacked(const std::filesystem::path& path);

/// The bytes of a whole file, and its digest; nothing if there are more than `most` bytes.
struct WholeFile {
  std::string bytes, sha256;
};
std::optional<WholeFile> read_unpacked(const std::filesystem::path& path, std::uint64_t most);

}  // namespace rondo
