// Protocol buffers; see data/files/protobuf.h.
#include "data/files/protobuf.h"

#include <bit>

namespace rondo {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

/// The kinds of values, which the key of a field has in its lowest three bits.
constexpr std::uint64_t varint = 0, eight_bytes = 1, with_length = 2, four_bytes = 5;

std::uint64_t key(int field, std::uint64_t kind) { return static_cast<std::uint64_t>(field) << 3 | kind; }

template <class Number>
std::string_view bytes_of(const Number* numbers, std::size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(Number)};
}

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

void ProtobufMessage::add_double(int field, double number) {
  add_varint(key(field, eight_bytes));
  bytes_ += bytes_of(&number, 1);
}

void ProtobufMessage::add_float(int field, float number) {
  add_varint(key(field, four_bytes));
  bytes_ += bytes_of(&number, 1);
}

void ProtobufMessage::add_doubles(int field, const std::vector<double>& numbers) {
  add(field, bytes_of(numbers.data(), numbers.size()));
}

}  // namespace rondo
