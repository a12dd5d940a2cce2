// A folder of its own for a test, gone when the test is over. Not for anything but tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tensor/error.h"

namespace rondo {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rondo-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no folder for a test: " + pattern);
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  /// Writes a file, and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// The folder of a published corpus, which need not be there. Corpora are not part of the project: set
/// RONDO_DATA to the folder that holds them; without it ../shared/data beside the sources is tried.
inline std::filesystem::path corpus_folder(std::string_view name) {
  const char* given = std::getenv("RONDO_DATA");
  const std::filesystem::path sources = RONDO_SOURCE_DIR;
  return (given ? std::filesystem::path(given) : sources / "../shared/data") / name;
}
inline bool has_corpus(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "train.txt");
}

/// Expects an InputError of one line whose text contains every one of `parts`.
template <class Action, class... Parts>
void expect_input_error(Action action, const Parts&... parts) {
  try {
    action();
    FAIL() << "no InputError";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    for (const std::string_view part : {std::string_view(parts)...})
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
  }
}

}  // namespace rondo
