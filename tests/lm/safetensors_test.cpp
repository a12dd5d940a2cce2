#include "lm/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/lm/temporary_folder.h"

namespace rondo {
namespace {

/// A safetensors file from its parts.
std::string file_of(const std::string& header, const std::string& values, std::uint64_t claimed_length = 0) {
  const std::uint64_t length = claimed_length ? claimed_length : header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + values;
}

std::string text_of(const TensorBytes& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
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
  const std::string header =
      R"({"__metadata__":{"epoch":"3"},"step":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("weight":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
      R"("mark":{"dtype":"U8","shape":[1,1],"data_offsets":[16,17]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(bytes_of_file(folder / "a"),
            file_of(padded, std::string("\xff\xff\xff\xff\xff\xff\xff\xff\0\0\x80\x3f\0\0\0\x40\x07", 17)));
}

TEST(Safetensors, ReadsBack) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1.5F, -2, 3, 4, 5, 6};
  const std::vector<double> b = {0.1};
  const std::vector<float> none;
  write_safetensors(
      folder / "a",
      {view("a", "F32", {2, 3}, a), view("b", "F64", {1}, b), view("none", "F32", {0, 4}, none)},
      {{"key", "line\n\"quoted\""}});
  const Safetensors file = Safetensors::read(folder / "a");
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.get("a").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(file.get("a").bytes.data(), a.data(), sizeof(float) * a.size()), 0);
  EXPECT_EQ(std::memcmp(file.get("b").bytes.data(), b.data(), sizeof(double)), 0);
  EXPECT_EQ(file.get("none").bytes.size(), 0u);
  EXPECT_EQ(file.metadata("key"), "line\n\"quoted\"");
  EXPECT_EQ(file.find("c"), nullptr);
  expect_contains(error_of([&] { file.get("c"); }), "holds no tensor 'c'");
  expect_contains(error_of([&] { file.metadata("other"); }), "'other'");
}

TEST(Safetensors, MovedFilesKeepTheirBytes) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> small = {1, 2,
                                           3};  // a file so short that a string might hold it inside itself
  write_safetensors(folder / "a", {view("a", "U8", {3}, small)}, {});
  Safetensors first = Safetensors::read(folder / "a");
  const Safetensors second = std::move(first);
  EXPECT_EQ(text_of(second.get("a")), "\1\2\3");
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
  expect_contains(error({view("a", "F32", {2}, a)}), "4 bytes");
  expect_contains(error({view("a", "F31", {1}, a)}), "F31");
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

TEST(Safetensors, AnIndependentReaderAgrees) {
  if (std::system("python3 -c '' > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  const std::vector<float> a = {1.5F, -2};
  const std::vector<double> b = {0.25};
  const std::vector<std::int32_t> c = {-7, 8, 9};
  write_safetensors(folder / "a",
                    {view("a", "F32", {2, 1}, a), view("b", "F64", {1}, b), view("c", "I32", {3}, c)},
                    {{"epoch", "3"}});
  const std::string command = "python3 " RONDO_SOURCE_DIR "/tests/lm/read_safetensors.py " +
                              (folder / "a").string() + " > " + (folder / "out").string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(bytes_of_file(folder / "out"),
            "__metadata__ epoch=3\na F32 [2, 1] (1.5, -2.0)\nb F64 [1] (0.25,)\nc I32 [3] (-7, 8, 9)\n");
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
  const std::vector<BadFile> files = {
      {"empty", "", "truncated"},
      {"seven bytes", "1234567", "truncated"},
      {"2^60 bytes of header", file_of("{}", "", std::uint64_t{1} << 60),
       "its header would have 1152921504606846976"},
      {"all ones", file_of("{}", "", ~std::uint64_t{0}), "its header would have"},
      {"header beyond the file", file_of("{}", "", 3), "truncated"},
      {"not JSON", file_of("{", ""), "not JSON"},
      {"text behind the JSON", file_of("{}{}", ""), "not JSON"},
      {"not UTF-8", file_of("{\"\xff\":1}", ""), "not JSON"},
      {"a number", file_of("5", ""), "not a JSON object"},
      {"a list", file_of("[]", ""), "not a JSON object"},
      {"deep", file_of(std::string(1'000'000, '['), ""), "nested too deep"},
      {"deep objects", file_of("{\"a\":{\"b\":{\"c\":{}}}}", ""), "nested too deep"},
      {"a name twice",
       file_of("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("a", "F32", "[1]", "[4,8]") + "}",
               eight),
       "names 'a' twice"},
      {"dtype twice",
       file_of(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four),
       "names 'dtype' twice"},
      {"no dtype", file_of(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", four), "needs dtype"},
      {"a number as dtype", file_of(R"({"a":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", four),
       "needs dtype"},
      {"one field too many", file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", four),
       "and no more"},
      {"not an object", file_of(R"({"a":[1,2,3]})", four), "needs dtype"},
      {"unknown dtype", file_of("{" + entry("a", "BF16", "[2]", "[0,4]") + "}", four), "type BF16"},
      {"shape no list", file_of("{" + entry("a", "F32", "1", "[0,4]") + "}", four), "shape or data_offsets"},
      {"negative shape", file_of("{" + entry("a", "F32", "[-1]", "[0,4]") + "}", four),
       "shape or data_offsets"},
      {"fraction", file_of("{" + entry("a", "F32", "[1.0]", "[0,4]") + "}", four), "shape or data_offsets"},
      {"beyond int64", file_of("{" + entry("a", "F32", "[18446744073709551615]", "[0,4]") + "}", four),
       "shape or data_offsets"},
      {"three offsets", file_of("{" + entry("a", "F32", "[1]", "[0,4,4]") + "}", four),
       "shape or data_offsets"},
      {"offsets reversed", file_of("{" + entry("a", "F32", "[1]", "[4,0]") + "}", four), "bytes 4 to 0"},
      {"offsets beyond the file", file_of("{" + entry("a", "F32", "[2]", "[0,8]") + "}", four),
       "truncated or corrupt"},
      {"huge offsets",
       file_of("{" + entry("a", "F32", "[1]", "[9223372036854775800,9223372036854775804]") + "}", four),
       "truncated or corrupt"},
      {"shape too small", file_of("{" + entry("a", "F32", "[1]", "[0,8]") + "}", eight),
       "do not fit its shape"},
      {"another dtype", file_of("{" + entry("a", "F64", "[1]", "[0,4]") + "}", four), "do not fit its shape"},
      {"product that wraps to 4",
       file_of("{" + entry("a", "F32", "[4294967296,4294967296,1]", "[0,0]") + "}", ""),
       "do not fit its shape"},
      {"overlap",
       file_of("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[0,4]") + "}", four),
       "overlaps"},
      {"gap", file_of("{" + entry("a", "F32", "[1]", "[4,8]") + "}", eight), "leaves a gap"},
      {"bytes behind", file_of("{" + entry("a", "F32", "[1]", "[0,4]") + "}", eight), "4 bytes behind"},
      {"metadata no object", file_of(R"({"__metadata__":1})", ""), "not an object"},
      {"metadata no string", file_of(R"({"__metadata__":{"a":1}})", ""), "not a string"},
  };
  const TemporaryFolder folder;
  const auto path = folder / "bad.safetensors";
  for (const BadFile& bad : files) {
    SCOPED_TRACE(bad.what);
    write_bytes(path, bad.bytes);
    const std::string text = error_of([&] { Safetensors::read(path); });
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
    EXPECT_THROW(Safetensors::read(folder / "b"), InputError) << size;
  }
}

TEST(Safetensors, EveryFlippedBitOfTheHeaderIsReadOrRefused) {
  const TemporaryFolder folder;
  const std::vector<float> a = {1, 2, 3};
  write_safetensors(folder / "a", {view("a", "F32", {3}, a)}, {});
  const std::string whole = bytes_of_file(folder / "a");
  int refused = 0;
  for (std::size_t bit = 0; bit < (whole.size() - sizeof(float) * a.size()) * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_bytes(folder / "b", damaged);
    try {
      Safetensors::read(folder / "b");  // another name is a good file
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 400);
}

}  // namespace
}  // namespace rondo
