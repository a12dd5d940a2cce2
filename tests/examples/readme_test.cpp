// The README and docs/another_model.md show code that is compiled and tested: every block of C++ in them
// stands, character for character, in a file of tests/examples/ or tests/installed/. This says so when one of
// the two changes alone. It deliberately runs none of the README's commands.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "data/text.h"

namespace {

const std::filesystem::path source_folder = RONDO_SOURCE_DIR;

/// The contents of the ```cpp blocks of a page.
std::vector<std::string> cpp_blocks(const std::string& page) {
  const std::string open = "\n```cpp\n", close = "\n```\n";
  std::vector<std::string> blocks;
  for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    const std::size_t end = page.find(close, at);
    if (end == std::string::npos) throw std::runtime_error("a block of C++ does not end");
    blocks.push_back(page.substr(at, end + 1 - at));
    at = end;
  }
  return blocks;
}

/// Expects that some file of tests/FOLDER holds each block of a page, of which there are so many at least.
void expect_tested(const std::string& page, const std::string& folder, std::size_t least) {
  std::vector<std::string> sources;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder / "tests" / folder))
    if (entry.path().extension() == ".cpp") sources.push_back(rondo::read_file(entry.path()));
  const auto blocks = cpp_blocks(rondo::read_file(source_folder / page));
  EXPECT_GE(blocks.size(), least) << "blocks are gone from " << page;
  for (const std::string& block : blocks) {
    bool found = false;
    for (const std::string& source : sources) found |= source.find(block) != std::string::npos;
    EXPECT_TRUE(found) << "no file of tests/" << folder << " holds this block of " << page << ":\n" << block;
  }
}

TEST(Readme, ShowsOnlyCodeThatIsTested) {
  expect_tested("README.md", "examples", 4);
  expect_tested("docs/another_model.md", "installed", 6);
}

TEST(Readme, BlocksAreFoundWhole) {
  const std::string page = "a\n```cpp\nint a;\n```\n```sh\nls\n```\n\n```cpp\nint b;\nint c;\n```\n";
  EXPECT_EQ(cpp_blocks(page), (std::vector<std::string>{"int a;\n", "int b;\nint c;\n"}));
  EXPECT_THROW(cpp_blocks("\n```cpp\nint a;"), std::runtime_error);
}

}  // namespace
