// Regular files of known size, open for reading: their size is checked first and they are read in parts, so
// that no input hangs (a pipe), never ends (a device) or exceeds the memory. Texts that a user names may be
// pipes: read_file of data/text.h reads those.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

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

}  // namespace rondo
