// Messages in the encoding of protocol buffers (protobuf.dev/programming-guides/encoding), for writing;
// data/files/onnx.h uses them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rondo {

/// A message: fields, each by its number.
class ProtobufMessage {
 public:
  void add(int field, std::int64_t number);
  void add(int field, std::string_view text);
  void add(int field, const char* text) { add(field, std::string_view(text)); }
  void add(int field, const ProtobufMessage& part) { add(field, part.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t number);
  std::string bytes_;
};

}  // namespace rondo
