// Files that are judged before they are read: data/files/input_file.h.
#include "data/files/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "data/text/text.h"
#include "tests/data/files.h"

namespace rondo {
namespace {

constexpr std::uint64_t most = 1000;

TEST(InputFile, ReadsParts) {
  const TestFolder folder;
  const InputFile file(folder.write("a", "0123456789"));
  EXPECT_EQ(file.size(), 10u);
  std::string part(4, ' ');
  file.read(3, part);
  EXPECT_EQ(part, "3456");
  expect_input_error([&] { file.read(7, part); }, "a: ends at byte 10");
}

TEST(InputFile, ReadsWholeThroughALink) {
  const TestFolder folder;
  const std::string bytes("a\0\r\n\xff", 5);
  std::filesystem::create_symlink(folder.write("a", bytes), folder / "link");
  EXPECT_EQ(read_regular_file(folder / "link", most), bytes);
  EXPECT_EQ(read_regular_file(folder.write("full", std::string(most, 'x')), most), std::string(most, 'x'));
  EXPECT_EQ(read_regular_file(folder.write("empty", ""), most), "");
}

TEST(InputFile, RefusesWhatIsNoFile) {
  const TestFolder folder;
  const auto expect_refused = [&](const std::filesystem::path& path, const char* part) {
    expect_input_error([&] { read_regular_file(path, most); }, path.string(), part);
  };
  expect_refused(folder / "absent", "No such file");
  expect_refused(folder.path(), "a folder");
  expect_refused("/dev/zero", "a device");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0666), 0);
  expect_refused(folder / "pipe", "a pipe");  // and does not wait for somebody to write into it
  std::filesystem::create_symlink(folder / "absent", folder / "dangling");
  expect_refused(folder / "dangling", "No such file");
  std::filesystem::create_symlink(folder / "loop", folder / "loop");
  expect_refused(folder / "loop", "Too many levels");
  EXPECT_TRUE(file_is_there(folder / "pipe") && file_is_there(folder / "loop"));
  EXPECT_FALSE(file_is_there(folder / "absent") || file_is_there(folder / "dangling"));
}

TEST(InputFile, RefusesWhatIsTooLargeUnread) {
  const TestFolder folder;
  const auto path = folder.write("sparse", "");
  std::filesystem::resize_file(path, std::uint64_t{3} << 30);
  expect_input_error([&] { read_regular_file(path, most); }, "sparse: has 3221225472 bytes",
                     "more than 1000");
}

TEST(InputFile, DigestsInParts) {
  const TestFolder folder;
  const std::string bytes(1'000'003, 'x');
  const InputFile file(folder.write("a", bytes));
  EXPECT_EQ(sha256_hex(file), sha256_hex(bytes));
  EXPECT_EQ(sha256_hex(file, 700'000), sha256_hex(bytes.substr(700'000)));
  EXPECT_EQ(sha256_hex(file, bytes.size()), sha256_hex(""));
}

}  // namespace
}  // namespace rondo
