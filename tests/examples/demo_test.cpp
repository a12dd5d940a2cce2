// The text of `make run` is a fixed list of files: data.files of lm/program/recipes/demo.toml.
#include <gtest/gtest.h>

#include <filesystem>

#include "lm/program/recipe.h"

namespace rondo {
namespace {

TEST(Demo, ReadsFilesThatAreThereAndNoPattern) {
  const std::vector<std::string> files = load_recipe("demo").language_model().data.files;
  uintmax_t bytes = 0;
  for (const std::string& file : files) {
    const auto path = std::filesystem::path(RONDO_SOURCE_DIR) / file;
    EXPECT_EQ(file.find_first_of("*?["), std::string::npos)
        << file << " is a pattern, which may match more each day";
    ASSERT_TRUE(std::filesystem::is_regular_file(path)) << file << ": name the file that took its place";
    bytes += std::filesystem::file_size(path);
  }
  // The time is proportional to it: 380 kB are meant to take a minute or two on two cores.
  EXPECT_GT(bytes, 300'000u);
  EXPECT_LT(bytes, 450'000u) << "`make run` takes too long: leave out some files";
}

}  // namespace
}  // namespace rondo
