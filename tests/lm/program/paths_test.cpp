// Paths as they are recorded and shown.
#include <gtest/gtest.h>

#include "lm/program/files.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

TEST(Paths, AreTheSameFromAnyFolder) {
  EXPECT_EQ(absolute_path("/a/./b/../c"), "/a/c");
  EXPECT_EQ(absolute_path("a"), fs::current_path() / "a");
  EXPECT_EQ(absolute_path("../a"), fs::current_path().parent_path() / "a");
}

TEST(Paths, HaveALastName) {
  for (const char* path : {"/data/ptb", "/data/ptb/", "ptb", "ptb/.", "/data/ptb/x/.."})
    EXPECT_EQ(last_name(path), "ptb") << path;
  EXPECT_EQ(last_name("."), fs::current_path().filename());
}

}  // namespace
}  // namespace rondo
