// Protocol buffers; see data/files/protobuf.h.
#include "data/files/protobuf.h"

namespace rondo {
namespace {

/// The kinds of values, which the key of a field has in its lowest three bits.
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

}  // namespace rondo
