// Files that are judged before they are read: data/files/input_file.h.
#include "data/files/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "tests/data/files.h"
#include "tests/data/files/packed.h"

namespace rondo {
namespace {

TEST(InputFile, ReadsParts) {
  const TemporaryFolder folder;
  const InputFile file(folder.write("a", "0123456789"));
  EXPECT_EQ(file.size(), 10u);
  std::string part(4, ' ');
  file.read(3, part);
  EXPECT_EQ(part, "3456");
  expect_input_error([&] { file.read(7, part); }, "a: ends at byte 10");
}

TEST(InputFile, ReadsWholeThroughALink) {
  const TemporaryFolder folder;
  const std::string bytes("a\0\r\n\xff", 5);
  std::filesystem::create_symlink(folder.write("a", bytes), folder / "link");
  EXPECT_EQ(read_file(folder / "link"), bytes);
  EXPECT_EQ(read_file(folder.write("empty", "")), "");
}

TEST(InputFile, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  const auto expect_refused = [&](const std::filesystem::path& path, const char* part) {
    expect_input_error([&] { read_file(path); }, path.string(), part);
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

TEST(InputFile, RefusesWhatIsTooLarge) {
  const TemporaryFolder folder;
  const auto file = folder.write("large.txt", std::string(100'000, 'x'));
  const auto read = [&](std::uint64_t most) { return read_file(file, Pipes::refused, most); };
  EXPECT_EQ(read(100'000).size(), 100'000u);
  expect_input_error([&] { read(99'999); }, "large.txt", "more than 99999 bytes");
  const auto sparse = folder.write("sparse", "");
  std::filesystem::resize_file(sparse, std::uint64_t{3} << 30);
  expect_input_error([&] { read_file(sparse, Pipes::refused, 1000); }, "sparse: more than 1000 bytes");
}

TEST(InputFile, ReadsAPipeThatIsAccepted) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0666), 0);
  const std::string content(300'000, 'x');
  std::thread writer([&] { folder.write("pipe", content); });
  EXPECT_EQ(read_file(folder / "pipe", Pipes::accepted), content);
  writer.join();
}

TEST(InputFile, DigestsInParts) {
  const TemporaryFolder folder;
  const std::string bytes(1'000'003, 'x');
  const InputFile file(folder.write("a", bytes));
  EXPECT_EQ(sha256_hex(file), sha256_hex(bytes));
  EXPECT_EQ(sha256_hex(file, 700'000), sha256_hex(bytes.substr(700'000)));
  EXPECT_EQ(sha256_hex(file, bytes.size()), sha256_hex(""));
}

std::string long_content() {
  std::string content;
  for (int i = 0; content.size() < 3'000'000; ++i) content += std::to_string(i) + (i % 9 == 0 ? "\n" : " ");
  return content;
}

void expect_unpacks(const std::string& suffix, std::string (*packed)(std::string_view)) {
  const TemporaryFolder folder;
  const std::string content = long_content();
  for (const std::string_view part :
       {std::string_view(content), std::string_view("a b\n"), std::string_view()}) {
    const std::string bytes = packed(part);
    EXPECT_TRUE(read_file(folder.write("text" + suffix, bytes)) == part);
    UnpackedFile file(folder / ("text" + suffix));
    while (!file.read().empty()) continue;
    EXPECT_EQ(file.sha256(), sha256_hex(bytes));
  }
  // Several packed files, joined, are their contents, joined.
  EXPECT_EQ(read_file(folder.write("j" + suffix, packed("a b\n") + packed("c"))), "a b\nc");
  expect_input_error(
      [&] { read_file(folder.write("l" + suffix, packed(content)), Pipes::refused, content.size() - 1); },
      "more than");

  const std::string bytes = packed(content);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, bytes.size() / 2, bytes.size() - 1}) {
    const auto cut = folder.write("cut" + suffix, bytes.substr(0, size));
    expect_input_error([&] { read_file(cut); }, "cut" + suffix, "incomplete");
  }
  std::string damaged = bytes;
  damaged[1] ^= 1;
  expect_input_error([&] { read_file(folder.write("bad" + suffix, damaged)); }, "bad" + suffix, "damaged");
}

TEST(UnpackedFile, Gzip) {
  if (!can_unpack(".gz")) GTEST_SKIP() << "built without zlib";
  expect_unpacks(".gz", &gzip_of);
  const TemporaryFolder folder;
  std::string bytes = gzip_of("the cat sat");
  bytes[17] ^= 1;  // of the text: the checksum tells
  expect_input_error([&] { read_file(folder.write("a.gz", bytes)); }, "a.gz: damaged");
}

TEST(UnpackedFile, Zstandard) {
  if (!can_unpack(".zst")) GTEST_SKIP() << "built without libzstd";
  expect_unpacks(".zst", &zstd_of);
}

TEST(UnpackedFile, WithoutItsLibrary) {
  const TemporaryFolder folder;
  if (!can_unpack(".gz"))
    expect_input_error([&] { UnpackedFile(folder.write("a.gz", gzip_of("a"))); }, "a.gz",
                       "needs zlib, which this program was built without: make WITH=\"zlib1g-dev\"");
  if (!can_unpack(".zst"))
    expect_input_error([&] { UnpackedFile(folder.write("a.zst", zstd_of("a"))); }, "a.zst",
                       "make WITH=\"libzstd-dev\"");
  if (can_unpack(".gz") && can_unpack(".zst")) GTEST_SKIP() << "built with both libraries";
}

TEST(InputFile, UnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const TemporaryFolder folder;
  const auto file = folder.write("secret.txt", "x");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  expect_input_error([&] { read_file(file); }, "secret.txt", "Permission denied");
}

TEST(Sha256, KnownDigests) {  // FIPS 180-4, examples
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace rondo
