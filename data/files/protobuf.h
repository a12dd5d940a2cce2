// Messages in the encoding of protocol buffers (protobuf.dev/programming-guides/encoding), for writing. Used
// by data/files/onnx.h and lm/program/log.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// A message: fields, each by its number.
class ProtobufMessage {
 public:
  void add(int field, std::int64_t number);
  void add(int field, std::string_view text);
  void add(int field, const char* text) { add(field, std::string_view(text)); }
  void add(int field, const ProtobufMessage& part) { add(field, part.bytes_); }
  void add_double(int field, double number);
  void add_float(int field, float number);
  /// A repeated field, packed.
  void add_doubles(int field, const std::vector<double>& numbers);
  const std::string& bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t number);
  std::string bytes_;
};

}  // namespace rondo
