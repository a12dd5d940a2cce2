#include "data/files/safetensors.h"

#include <gtest/gtest.h>

#include "data/text/text.h"
#include "tests/data/files/little_endian.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

/// The values of a tensor.
std::string bytes_of(const Safetensors& file, const std::string& name) {
  std::string bytes(file.get(name).size(), '\0');
  file.read(file.get(name), std::as_writable_bytes(std::span(bytes)));
  return bytes;
}
template <class Value>
std::string bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(Value) * values.size()};
}

/// Reads a file whole, as one that loads it does.
void read_all(const std::filesystem::path& path) {
  const Safetensors file(path);
  file.check_values();
}

template <class Value>
TensorBytes view(const std::string& name, const std::string& dtype, std::vector<std::int64_t> shape,
                 const std::vector<Value>& values) {
  return {name, dtype, std::move(shape), std::as_bytes(std::span(values))};
}

TEST(Safetensors, WritesExactlyTheseBytes) {
  const TemporaryFolder folder;
  const std::vector<float> weight = {1, 2};
  const std::vector<std::uint8_t> mark = {7};
  const std::vector<std::int64_t> step = {-1};
  write_safetensors(
      folder / "a",
      {view("mark", "U8", {1, 1}, mark), view("weight", "F32", {2}, weight), view("step", "I64", {}, step)},
      {{"epoch", "3"}});
  const std::string values("\xff\xff\xff\xff\xff\xff\xff\xff\0\0\x80\x3f\0\0\0\x40\x07", 17);
  const auto header = [&](const std::string& digest) {
    const std::string text = R"({"__metadata__":{"epoch":"3","header_sha256":")" + digest +
                             R"(","values_sha256":")" + sha256_hex(values) +
                             R"("},"step":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                             R"("weight":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                             R"("mark":{"dtype":"U8","shape":[1,1],"data_offsets":[16,17]}})";
    return text + std::string((8 - text.size() % 8) % 8, ' ');
  };
  const std::string digest = sha256_hex(header(std::string(64, '0')));
  EXPECT_EQ(bytes_of_file(folder / "a"), safetensors_of(header(digest), values));
}

TEST(Safetensors, ReadsBack) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1.5F, -2, 3, 4, 5, 6};
  const std::vector<double> b = {0.1};
  const std::vector<std::int32_t> c = {-7, 8, 9};
  const std::vector<float> none;
  write_safetensors(folder / "a",
                    {view("a", "F32", {2, 3}, a), view("b", "F64", {1}, b), view("c", "I32", {3}, c),
                     view("none", "F32", {0, 4}, none)},
                    {{"key", "line\n\"quoted\""}});
  const Safetensors file(folder / "a");
  EXPECT_TRUE(file.has_digests());
  EXPECT_NO_THROW(file.check_values());
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.get("a").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(bytes_of(file, "a"), bytes_of(a));
  EXPECT_EQ(bytes_of(file, "b"), bytes_of(b));
  EXPECT_EQ(bytes_of(file, "c"), bytes_of(c));
  EXPECT_EQ(bytes_of(file, "none"), "");
  EXPECT_EQ(file.metadata(), (Metadata{{"key", "line\n\"quoted\""}}));
  expect_contains(error_of([&] { file.get("d"); }), "holds no tensor 'd'");
  expect_contains(error_of([&] { file.metadata("other"); }), "'other'");
}

TEST(Safetensors, ReadsWhatOtherProgramsWrite) {
  const TemporaryFolder folder;
  write_bytes(
      folder / "a",
      safetensors_of(
          R"({"a": {"shape": [1], "dtype": "F32", "data_offsets": [0, 4]}, "__metadata__": {"format": "pt"}} )",
          "1234"));
  const Safetensors file(folder / "a");
  EXPECT_FALSE(file.has_digests());
  EXPECT_NO_THROW(file.check_values());
  EXPECT_EQ(bytes_of(file, "a"), "1234");
}

TEST(Safetensors, SameValuesSameBytesInAnyOrder) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1}, b = {2};
  write_safetensors(folder / "ab", {view("a", "F32", {1}, a), view("b", "F32", {1}, b)}, {});
  write_safetensors(folder / "ba", {view("b", "F32", {1}, b), view("a", "F32", {1}, a)}, {});
  EXPECT_EQ(bytes_of_file(folder / "ab"), bytes_of_file(folder / "ba"));
}

TEST(Safetensors, RefusesToWriteNonsense) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1};
  const auto error = [&](std::vector<TensorBytes> tensors) {
    return error_of<Error>([&] { write_safetensors(folder / "a", tensors, {}); });
  };
  expect_contains(error({view("a", "F32", {1}, a), view("a", "F32", {1}, a)}), "two tensors named 'a'");
  expect_contains(error({view("", "F32", {1}, a)}), "two tensors named ''");
  expect_contains(error({view("a", "F32", {2}, a)}), "4 bytes");
  expect_contains(error({view("a", "F31", {1}, a)}), "F31");
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

// ---- files that are not what they say ----

struct BadFile {
  const char* what;
  std::string bytes;
  const char* expected;
};

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}

TEST(Safetensors, BadFilesAreOneClearError) {
  const std::string four = "1234", eight = "12345678";
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets,
                      const std::string& values = "1234") {
    return safetensors_of("{" + entry("a", dtype, shape, offsets) + "}", values);
  };
  const std::vector<BadFile> files = {
      {"empty", "", "truncated"},
      {"seven bytes", "1234567", "truncated"},
      {"2^60 bytes of header", little_endian(std::uint64_t{1} << 60, 8) + "{}",
       "its header would have 1152921504606846976"},
      {"all ones", little_endian(~std::uint64_t{0}, 8) + "{}", "its header would have"},
      {"header beyond the file", little_endian(3, 8) + "{}", "truncated"},
      {"not JSON", safetensors_of("{"), "not JSON"},
      {"text behind the JSON", safetensors_of("{}{}"), "not JSON"},
      {"text behind a NUL", safetensors_of(std::string("{}\0junk", 7)), "not JSON"},
      {"a NUL in place of a blank", safetensors_of(std::string("{}\0", 3)), "not JSON"},
      {"no name", safetensors_of("{" + entry("", "F32", "[1]", "[0,4]") + "}", four),
       "a tensor without a name"},
      {"not UTF-8", safetensors_of("{\"\xff\":1}"), "not JSON"},
      {"a number", safetensors_of("5"), "not a JSON object"},
      {"a list", safetensors_of("[]"), "not a JSON object"},
      {"deep", safetensors_of(std::string(1'000'000, '[')), "nested too deep"},
      {"deep objects", safetensors_of("{\"a\":{\"b\":{\"c\":{}}}}"), "nested too deep"},
      {"a name twice",
       safetensors_of("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("a", "F32", "[1]", "[4,8]") + "}",
                      eight),
       "'a' overlaps another tensor or leaves a gap"},
      {"no dtype", safetensors_of(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", four), "needs dtype"},
      {"a number as dtype", safetensors_of(R"({"a":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", four),
       "needs dtype"},
      {"one field too many",
       safetensors_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", four),
       "and no more"},
      {"not an object", safetensors_of(R"({"a":[1,2,3]})", four), "needs dtype"},
      {"unknown dtype", one("F8_E4M3", "[4]", "[0,4]"), "type F8_E4M3"},
      {"a file of torch.save",
       "PK\x03\x04" + std::string(22, '\0') + std::string("\x10\0\0\0", 4) + "archive/data.pkl and so on",
       "a file of torch.save or numpy.savez, not of safetensors; to convert"},
      {"an old one",
       "\x80\x02\x8a\x0al\xfc\x9c"
       "F\xf9 j\xa8P\x19.\x80\x02M",
       "a file of torch.save or"},
      {"a packed file", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10), "its format is gzip"},
      {"shape no list", one("F32", "1", "[0,4]"), "shape or data_offsets"},
      {"negative shape", one("F32", "[-1]", "[0,4]"), "shape or data_offsets"},
      {"fraction", one("F32", "[1.0]", "[0,4]"), "shape or data_offsets"},
      {"beyond int64", one("F32", "[18446744073709551615]", "[0,4]"), "shape or data_offsets"},
      {"three offsets", one("F32", "[1]", "[0,4,4]"), "shape or data_offsets"},
      {"offsets reversed", one("F32", "[1]", "[4,0]"), "bytes 4 to 0"},
      {"offsets beyond the file", one("F32", "[2]", "[0,8]"), "truncated or corrupt"},
      {"huge offsets", one("F32", "[1]", "[9223372036854775800,9223372036854775804]"),
       "truncated or corrupt"},
      {"shape too small", one("F32", "[1]", "[0,8]", eight), "do not fit its shape"},
      {"another dtype", one("F64", "[1]", "[0,4]"), "do not fit its shape"},
      {"product that wraps to 4", one("F32", "[4294967296,4294967296,1]", "[0,0]", ""),
       "do not fit its shape"},
      {"overlap",
       safetensors_of("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[0,4]") + "}",
                      four),
       "overlaps"},
      {"gap", one("F32", "[1]", "[4,8]", eight), "leaves a gap"},
      {"bytes after", one("F32", "[1]", "[0,4]", eight), "4 bytes after"},
      {"metadata no object", safetensors_of(R"({"__metadata__":1})"), "not an object"},
      {"one digest without the other",
       safetensors_of(R"({"__metadata__":{"header_sha256":")" + std::string(64, 'a') + R"("}})"),
       "damaged: its header"},
      {"the other without the one",
       safetensors_of(R"({"__metadata__":{"values_sha256":")" + sha256_hex("") + R"("}})"),
       "damaged: its header"},
      {"metadata no string", safetensors_of(R"({"__metadata__":{"a":1}})"), "not a string"},
  };
  const TemporaryFolder folder;
  const auto path = folder / "bad.safetensors";
  for (const BadFile& bad : files) {
    SCOPED_TRACE(bad.what);
    write_bytes(path, bad.bytes);
    const std::string text = error_of([&] { read_all(path); });
    expect_contains(text, path.string());
    expect_contains(text, bad.expected);
  }
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1, 2, 3};
  write_safetensors(folder / "a", {view("a", "F32", {3}, a)}, {{"k", "v"}});
  const std::string whole = bytes_of_file(folder / "a");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(folder / "b", whole.substr(0, size));
    EXPECT_THROW(read_all(folder / "b"), InputError) << size;
  }
}

// In the length, the header, its blanks, its digests and the values.
TEST(Safetensors, EveryFlippedBitIsNoticed) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1, 2, 3};
  write_safetensors(folder / "a", {view("a", "F32", {3}, a)}, {{"format", "pt"}});
  EXPECT_NO_THROW(read_all(folder / "a"));
  for (std::size_t bit = 0; bit < 8 * std::filesystem::file_size(folder / "a"); ++bit) {
    flip_bit(folder / "a", bit);
    EXPECT_THROW(read_all(folder / "a"), InputError) << "bit " << bit % 8 << " of byte " << bit / 8;
    flip_bit(folder / "a", bit);
  }
  EXPECT_NO_THROW(read_all(folder / "a"));
}

}  // namespace
}  // namespace rondo
