// Paths as they are recorded, and which files options may name for output. That each command asks before it
// works: the tests of the commands.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "lm/program/files.h"
#include "tensor/error.h"
#include "tests/temporary_folder.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

TEST(FileToWrite, IsResolved) {
  const TemporaryFolder folder;
  const fs::path at = fs::canonical(folder / "");
  fs::create_directories(folder / "there");
  std::ofstream(folder / "there/old.npy") << "old";
  fs::create_symlink("there/old.npy", folder / "link.npy");
  fs::create_symlink("there", folder / "folder");
  EXPECT_EQ(file_to_write("--output", ""), "");
  EXPECT_EQ(file_to_write("--output", (folder / "link.npy").string()), at / "there/old.npy");
  EXPECT_EQ(file_to_write("--output", (folder / "folder/new.npy").string()), at / "there/new.npy");
  EXPECT_FALSE(fs::exists(folder / "there/new.npy"));
}

TEST(FileToWrite, RefusesWhatCannotBeReplaced) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& file, const std::string& why,
                           const std::vector<std::string>& read = {}) {
    const std::string name = (folder / file).string(),
                      told = error_of([&] { file_to_write("--output", name, read); });
    EXPECT_TRUE(told.starts_with("--output " + name + ": " + why)) << told;
    EXPECT_EQ(told.find('\n'), std::string::npos);
  };
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", folder / "pipe link");
  fs::create_symlink("nothing", folder / "broken link");
  fs::create_symlink("circle", folder / "circle");
  std::ofstream(folder / "text") << "text";
  fs::create_symlink("text", folder / "text link");
  refused("", "a folder, a pipe or a device");
  refused("pipe", "a folder, a pipe or a device");
  refused("pipe link", "a folder, a pipe or a device");
  refused("broken link", "a link to a file that does not exist");
  refused("circle", "");
  refused("no/folder", "there is no folder");
  refused("text/file", "there is no folder");
  refused("new/", "there is no folder");
  refused("text link", "is read by this command", {"", (folder / "text").string()});

  fs::create_directories(folder / "run");
  const std::string files[] = {"config.toml", "vocab.txt", "vocab.pieces",      "labels.txt",
                               "frames.txt",  "log.jsonl", "model.safetensors", "state.safetensors"};
  file_to_write("--output", (folder / "run/frames.txt").string());  // not a run yet
  std::ofstream(folder / "run/config.toml") << "a run";
  fs::create_symlink("run/config.toml", folder / "run link");
  for (const std::string& file : files) refused("run/" + file, "is a file of the run");
  refused("run link", "is a file of the run");
  refused("run/../run/config.toml", "is a file of the run");
  file_to_write("--output", (folder / "run/vectors.npy").string());
}

TEST(FolderToWrite, IsThereOrCanBeMade) {
  const TemporaryFolder folder;
  std::ofstream(folder / "text") << "text";
  check_folder_to_write("--svg", (folder / "").string());
  check_folder_to_write("--svg", (folder / "new/pictures").string());
  EXPECT_FALSE(fs::exists(folder / "new"));
  for (const char* name : {"text", "text/pictures"})
    EXPECT_EQ(error_of([&] { check_folder_to_write("--svg", (folder / name).string()); }),
              "--svg " + (folder / name).string() + ": " + (folder / "text").string() +
                  " is not a folder; give another one");
}

TEST(Paths, AreTheSameFromAnyFolderAndHaveALastName) {
  EXPECT_EQ(absolute_path("/a/./b/../c"), "/a/c");
  EXPECT_EQ(absolute_path("a"), fs::current_path() / "a");
  EXPECT_EQ(absolute_path("../a"), fs::current_path().parent_path() / "a");
  for (const char* path : {"/data/ptb", "/data/ptb/", "ptb", "ptb/.", "/data/ptb/x/.."})
    EXPECT_EQ(last_name(path), "ptb") << path;
  EXPECT_EQ(last_name("."), fs::current_path().filename());
}

}  // namespace
}  // namespace rondo
