// A folder that lasts as long as a test, and what tests do with files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/tensor/errors.h"

namespace rondo {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rondo-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error("cannot make a temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file, in a folder within this one that need not be there, and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Puts `to` in the first place where the file has `from`.
inline void replace_in_file(const std::filesystem::path& path, const std::string& from,
                            const std::string& to) {
  std::string bytes = bytes_of_file(path);
  const std::size_t at = bytes.find(from);
  ASSERT_NE(at, std::string::npos) << "no '" << from << "' in " << path;
  write_bytes(path, bytes.replace(at, from.size(), to));
}

/// In place; a second time it is undone.
inline void flip_bit(const std::filesystem::path& path, std::size_t bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(bit / 8));
  const int byte = file.get() ^ (1 << bit % 8);
  file.seekp(static_cast<std::streamoff>(bit / 8));
  file.put(static_cast<char>(byte));
}

/// EXPECT that `text` contains `part`.
inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

}  // namespace rondo
