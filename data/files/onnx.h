// Writing ONNX models (onnx.ai, onnx.proto3): a graph of operators over named tensors, in the encoding of
// protocol buffers. Only what models here need. Which operators a model becomes: lm/program/onnx_export.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rondo {

/// A message in the encoding of protocol buffers (protobuf.dev/programming-guides/encoding): fields, each by
/// its number.
class ProtobufMessage {
 public:
  void add(int field, std::int64_t number);
  void add(int field, std::string_view text);
  void add(int field, const ProtobufMessage& part) { add(field, part.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t number);
  std::string bytes_;
};

class OnnxGraph {
 public:
  enum class Type { float32 = 1, int64 = 7 };  // the numbers of onnx.proto3
  /// A number, or the name of a dynamic dimension.
  using Extent = std::variant<std::int64_t, std::string>;
  using Attribute =
      std::variant<std::int64_t, std::string, std::vector<std::int64_t>, std::vector<std::string>>;
  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  void add_input(const std::string& name, Type type, const std::vector<Extent>& shape);
  void add_output(const std::string& name, Type type, const std::vector<Extent>& shape);
  /// A tensor with values.
  void add_constant(const std::string& name, const std::vector<std::int64_t>& shape,
                    std::span<const float> values);
  void add_constant(const std::string& name, const std::vector<std::int64_t>& shape,
                    std::span<const std::int64_t> values);
  /// An operator of the default domain; its inputs must have been added before. An empty name is an input or
  /// output that is left out.
  void add_node(const std::string& op, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, const Attributes& attributes = {});

  /// Replaces the file atomically. InputError for more than 2 GiB, which no reader of the format accepts.
  void write(const std::filesystem::path& path, const std::string& name,
             const std::string& producer_version) const;

  /// The operators are those of this version.
  static constexpr std::int64_t operator_set = 14;

 private:
  template <class Number>
  void add_tensor(const std::string& name, Type type, const std::vector<std::int64_t>& shape,
                  std::span<const Number> values);

  ProtobufMessage graph_;
};

}  // namespace rondo
