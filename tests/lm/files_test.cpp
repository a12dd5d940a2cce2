#include "lm/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/lm/temporary_folder.h"

namespace rondo {
namespace {

/// While it lives no file may grow beyond `bytes`: writes fail as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int);
  rlimit old_limit_{};
};

TEST(Files, WritesAndReplaces) {
  const TemporaryFolder folder;
  const auto path = folder / "a";
  write_atomically(path, "first");
  EXPECT_EQ(bytes_of_file(path), "first");
  const std::string_view pieces[] = {"sec", "", std::string_view("\0nd", 3)};
  write_atomically(path, pieces);
  EXPECT_EQ(bytes_of_file(path), std::string("sec\0nd", 6));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.partial"));
}

TEST(Files, FullDiskLeavesTheOldFileIntact) {
  const TemporaryFolder folder;
  const auto path = folder / "a";
  write_atomically(path, "old");
  {
    const FullDisk full(1000);
    const std::string text = error_of<Error>([&] { write_atomically(path, std::string(100'000, 'x')); });
    expect_contains(text, path.string());
    expect_contains(text, "intact");
  }
  EXPECT_EQ(bytes_of_file(path), "old");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.partial"));
}

TEST(Files, WritingIntoNoFolderFails) {
  const TemporaryFolder folder;
  expect_contains(error_of<Error>([&] { write_atomically(folder / "none" / "a", "x"); }), "No such file");
}

TEST(LineFile, AppendsAndGoesOnFromAPosition) {
  const TemporaryFolder folder;
  const auto path = folder / "log";
  std::int64_t position = 0;
  {
    LineFile log(path, 0);
    log.append("one");
    position = log.sync();
    EXPECT_EQ(position, 4);
    log.append("lost");
  }
  EXPECT_EQ(bytes_of_file(path), "one\nlost\n");
  {
    LineFile log(path, position);
    EXPECT_EQ(bytes_of_file(path), "one\n");
    log.append("two");
    EXPECT_EQ(log.sync(), 8);
  }
  EXPECT_EQ(bytes_of_file(path), "one\ntwo\n");
  LineFile(path, 0).append("new");
  EXPECT_EQ(bytes_of_file(path), "new\n");
}

TEST(LineFile, RefusesAFileThatLostItsEnd) {
  const TemporaryFolder folder;
  write_bytes(folder / "log", "one\n");
  expect_contains(error_of([&] { LineFile(folder / "log", 5); }), "has 4 bytes, but 5");
  EXPECT_EQ(bytes_of_file(folder / "log"), "one\n");
  error_of([&] { LineFile(folder / "none", 5); });
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST(AppendLine, EachOnALineOfItsOwn) {
  const TemporaryFolder folder;
  const auto path = folder / "lines";
  append_line(path, "one");
  append_line(path, "two");
  EXPECT_EQ(bytes_of_file(path), "one\ntwo\n");
  write_bytes(path, "cut sho");
  append_line(path, "three");
  EXPECT_EQ(bytes_of_file(path), "three\n") << "what a killed process left is no line";
  const FullDisk full(20);
  expect_contains(error_of<Error>([&] { append_line(path, std::string(100, 'x')); }), path.string());
  EXPECT_EQ(bytes_of_file(path), "three\n") << "as it was";
}

TEST(LineFile, FullDisk) {
  const TemporaryFolder folder;
  LineFile log(folder / "log", 0);
  const FullDisk full(10);
  expect_contains(error_of<Error>([&] { log.append(std::string(100, 'x')); }), (folder / "log").string());
}

}  // namespace
}  // namespace rondo
