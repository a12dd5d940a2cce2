// Files that may be packed: data/files/input_file.h.
#include "data/files/input_file.h"
#include "tests/data/files.h"
#include "tests/data/packed.h"

namespace rondo {
namespace {

constexpr std::uint64_t any_size = std::numeric_limits<std::uint64_t>::max();

std::string long_content() {
  std::string content;
  for (int i = 0; content.size() < 3'000'000; ++i) content += std::to_string(i) + (i % 9 == 0 ? "\n" : " ");
  return content;
}

void expect_unpacks(const std::string& suffix, std::string (*packed)(std::string_view)) {
  const TestFolder folder;
  const std::string content = long_content();
  for (const std::string_view part :
       {std::string_view(content), std::string_view("a b\n"), std::string_view()}) {
    const std::string bytes = packed(part);
    const auto whole = read_unpacked(folder.write("text" + suffix, bytes), any_size);
    ASSERT_TRUE(whole);
    EXPECT_TRUE(whole->bytes == part);
    EXPECT_EQ(whole->sha256, sha256_hex(bytes));
  }
  // Several packed files, joined, are their contents, joined.
  const auto joined = read_unpacked(folder.write("j" + suffix, packed("a b\n") + packed("c")), any_size);
  EXPECT_EQ(joined->bytes, "a b\nc");
  EXPECT_FALSE(read_unpacked(folder.write("l" + suffix, packed(content)), content.size() - 1));
  EXPECT_TRUE(read_unpacked(folder / ("l" + suffix), content.size()));

  const std::string bytes = packed(content);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, bytes.size() / 2, bytes.size() - 1}) {
    const auto cut = folder.write("cut" + suffix, bytes.substr(0, size));
    expect_input_error([&] { read_unpacked(cut, any_size); }, "cut" + suffix, "incomplete");
  }
  std::string damaged = bytes;
  damaged[1] ^= 1;
  expect_input_error([&] { read_unpacked(folder.write("bad" + suffix, damaged), any_size); }, "bad" + suffix,
                     "damaged");
}

TEST(UnpackedFile, Gzip) {
  if (!has_zlib()) GTEST_SKIP() << "built without zlib";
  expect_unpacks(".gz", &gzip_of);
  const TestFolder folder;
  std::string bytes = gzip_of("the cat sat");
  bytes[17] ^= 1;  // of the text: the checksum tells
  expect_input_error([&] { read_unpacked(folder.write("a.gz", bytes), any_size); }, "a.gz: damaged");
}

TEST(UnpackedFile, Zstandard) {
  if (!has_zstd()) GTEST_SKIP() << "built without libzstd";
  expect_unpacks(".zst", &zstd_of);
}

TEST(UnpackedFile, WithoutItsLibrary) {
  const TestFolder folder;
  if (!has_zlib())
    expect_input_error([&] { UnpackedFile(folder.write("a.gz", gzip_of("a"))); }, "a.gz",
                       "needs zlib, which this program was built without: make WITH=\"zlib1g-dev\"");
  if (!has_zstd())
    expect_input_error([&] { UnpackedFile(folder.write("a.zst", zstd_of("a"))); }, "a.zst",
                       "make WITH=\"libzstd-dev\"");
  if (has_zlib() && has_zstd()) GTEST_SKIP() << "built with both libraries";
}

TEST(UnpackedFile, PlainFilesAreReadAsTheyAre) {
  const TestFolder folder;
  const std::string content = long_content();
  EXPECT_TRUE(read_unpacked(folder.write("a.txt", content), any_size)->bytes == content);
  EXPECT_FALSE(read_unpacked(folder / "a.txt", 100));
  EXPECT_EQ(read_unpacked(folder.write("b.txt", gzip_of("a")), any_size)->bytes, gzip_of("a"));
}

}  // namespace
}  // namespace rondo
