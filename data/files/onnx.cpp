// ONNX models; see data/files/onnx.h. Numbers of fields are those of onnx.proto3.
#include "data/files/onnx.h"

#include <bit>
#include <limits>

#include "data/files/files.h"
#include "tensor/error.h"

namespace rondo {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

/// Wire types: the lowest three bits of the key of a field.
constexpr std::uint64_t varint = 0, with_length = 2;

std::uint64_t key(int field, std::uint64_t kind) { return static_cast<std::uint64_t>(field) << 3 | kind; }

}  // namespace

/// Seven bits a byte, the lowest first.
void ProtobufMessage::add_varint(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
  bytes_ += static_cast<char>(number);
}

void ProtobufMessage::add(int field, std::int64_t number) {
  add_varint(key(field, varint));
  add_varint(static_cast<std::uint64_t>(number));
}

void ProtobufMessage::add(int field, std::string_view text) {
  add_varint(key(field, with_length));
  add_varint(text.size());
  bytes_ += text;
}

namespace {

/// ValueInfoProto.
ProtobufMessage value_info(const std::string& name, OnnxGraph::Type type,
                           const std::vector<OnnxGraph::Extent>& extents) {
  ProtobufMessage shape;
  for (const OnnxGraph::Extent& extent : extents) {
    ProtobufMessage dimension;
    if (const auto* number = std::get_if<std::int64_t>(&extent))
      dimension.add(1, *number);
    else
      dimension.add(2, std::get<std::string>(extent));
    shape.add(1, dimension);
  }
  ProtobufMessage tensor, of_type, info;
  tensor.add(1, static_cast<std::int64_t>(type));
  tensor.add(2, shape);
  of_type.add(1, tensor);
  info.add(1, name);
  info.add(2, of_type);
  return info;
}

}  // namespace

void OnnxGraph::add_input(const std::string& name, Type type, const std::vector<Extent>& shape) {
  graph_.add(11, value_info(name, type, shape));
}

void OnnxGraph::add_output(const std::string& name, Type type, const std::vector<Extent>& shape) {
  graph_.add(12, value_info(name, type, shape));
}

template <class Number>
void OnnxGraph::add_tensor(const std::string& name, Type type, const std::vector<std::int64_t>& shape,
                           std::span<const Number> values) {
  ProtobufMessage tensor;
  for (const std::int64_t extent : shape) tensor.add(1, extent);
  tensor.add(2, static_cast<std::int64_t>(type));
  tensor.add(8, name);
  tensor.add(9, bytes_of(values));
  graph_.add(5, tensor);
}

void OnnxGraph::add_constant(const std::string& name, const std::vector<std::int64_t>& shape,
                             std::span<const float> values) {
  add_tensor(name, Type::float32, shape, values);
}

void OnnxGraph::add_constant(const std::string& name, const std::vector<std::int64_t>& shape,
                             std::span<const std::int64_t> values) {
  add_tensor(name, Type::int64, shape, values);
}

void OnnxGraph::add_node(const std::string& op, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const Attributes& attributes) {
  constexpr std::int64_t is_integer = 2, is_string = 3, is_integers = 7, is_strings = 8;
  ProtobufMessage node;
  for (const std::string& name : inputs) node.add(1, name);
  for (const std::string& name : outputs) node.add(2, name);
  node.add(4, op);
  for (const auto& [name, value] : attributes) {
    ProtobufMessage attribute;
    attribute.add(1, name);
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      attribute.add(3, *number);
      attribute.add(20, is_integer);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      attribute.add(4, *text);
      attribute.add(20, is_string);
    } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
      for (const std::string& it : *texts) attribute.add(9, it);
      attribute.add(20, is_strings);
    } else {
      for (const std::int64_t it : std::get<std::vector<std::int64_t>>(value)) attribute.add(8, it);
      attribute.add(20, is_integers);
    }
    node.add(5, attribute);
  }
  graph_.add(1, node);
}

void OnnxGraph::write(const std::filesystem::path& path, const std::string& name,
                      const std::string& producer_version) const {
  constexpr std::int64_t format = 8;  // ONNX 1.10 (2021); operator set 14 needs 7 or later
  ProtobufMessage operators, graph = graph_, model;
  operators.add(1, "");
  operators.add(2, operator_set);
  graph.add(2, name);
  model.add(1, format);
  model.add(2, "Rondo");
  model.add(3, producer_version);
  model.add(7, graph);
  model.add(8, operators);
  check_input(model.bytes().size() <= std::numeric_limits<std::int32_t>::max(),
              "{}: the model has {} bytes, and a file of ONNX at most 2 GiB: export it for PyTorch",
              path.string(), model.bytes().size());
  write_atomically(path, model.bytes());
}

}  // namespace rondo
