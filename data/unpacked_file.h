// A file of any length, read from beginning to end, and decompressed if its name ends in .gz or .zst, by
// zlib and libzstd, which are optional. Next: data/long_text.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "data/input_file.h"
#include "data/text.h"

namespace rondo {

/// Whether this program was built with zlib; with libzstd.
bool has_zlib();
bool has_zstd();

/// The endings of packed files.
constexpr std::string_view packed_suffixes[] = {".gz", ".zst"};
bool is_packed(const std::filesystem::path& path);
/// Its name without such an ending.
std::string unpacked_name(const std::filesystem::path& path);

class Unpacker;

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
/// and of read_file() of data/text.h.
std::string read_file_unpacked(const std::filesystem::path& path);

/// The bytes of a whole file, and its digest; nothing if there are more than `most` bytes.
struct WholeFile {
  std::string bytes, sha256;
};
std::optional<WholeFile> read_unpacked(const std::filesystem::path& path, std::uint64_t most);

}  // namespace rondo
