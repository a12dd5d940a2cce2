// The encoding of ONNX models; what a runtime makes of them: tests/exchange/exchange.py.
#include "data/files/onnx.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/temporary_folder.h"

namespace rondo {
namespace {

// The bytes of the examples of protobuf.dev/programming-guides/encoding.
TEST(Onnx, MessagesAreEncodedAsProtocolBuffersSay) {
  ProtobufMessage number, text, whole;
  number.add(1, std::int64_t{150});
  EXPECT_EQ(number.bytes(), "\x08\x96\x01");
  text.add(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing");
  whole.add(3, number);
  EXPECT_EQ(whole.bytes(), "\x1a\x03\x08\x96\x01");
  ProtobufMessage negative;
  negative.add(1, std::int64_t{-2});
  EXPECT_EQ(negative.bytes(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Onnx, AGraphHasItsPartsUnderTheirNumbers) {
  OnnxGraph graph;
  graph.add_input("x", OnnxGraph::Type::float32, {"T", std::int64_t{2}});
  const std::array<float, 2> values{0, 1};
  graph.add_constant("w", {2}, values);
  graph.add_node("Add", {"x", "w"}, {"y"}, {{"axis", std::int64_t{1}}});
  graph.add_node("Pad", {"y"}, {"z"}, {{"mode", "edge"}});
  const TemporaryFolder folder;
  graph.write(folder / "model.onnx", "sum", "1.2.3");
  using namespace std::string_literals;
  const std::string input =
      "\x5a\x14\x0a\x01x\x12\x0f\x0a\x0d\x08\x01\x12\x09\x0a\x03\x12\x01T\x0a\x02\x08\x02";
  const std::string constant = "\x2a\x11"s + "\x08\x02\x10\x01\x42\x01w\x4a\x08" + "\0\0\0\0\0\0\x80\x3f"s;
  const std::string file = bytes_of_file(folder / "model.onnx");
  expect_contains(file, constant);
  expect_contains(file,
                  "\x0a\x01x\x0a\x01w\x12\x01y\x22\x03"
                  "Add\x2a\x0b\x0a\x04"
                  "axis\x18\x01\xa0\x01\x02");
  expect_contains(file,
                  "mode\x22\x04"
                  "edge\xa0\x01\x03");
  expect_contains(file, "\x12\x03sum");
  expect_contains(file, input);
  EXPECT_TRUE(
      file.starts_with("\x08\x08\x12\x05Rondo\x1a\x05"
                       "1.2.3\x3a"));
  EXPECT_TRUE(file.ends_with("\x42\x04\x0a\x00\x10\x0e"s)) << "the operators of version 14";
}

}  // namespace
}  // namespace rondo
