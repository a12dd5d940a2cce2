// NumPy's file format; see data/files/npy.h.
#include "data/files/npy.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <string_view>

#include "data/files/files.h"
#include "tensor/error.h"

namespace rondo {

void write_npy(const std::filesystem::path& path, std::span<const float> numbers, std::int64_t columns) {
  static_assert(std::endian::native == std::endian::little);  // as "<f4" says
  check(columns > 0 && std::ssize(numbers) % columns == 0, "[npy] {} numbers in rows of {}", numbers.size(),
        columns);
  constexpr std::size_t before = 10, alignment = 64;  // magic, version and length; of the numbers
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   std::ssize(numbers) / columns, columns);
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  const std::string begin = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 0xff) +
                            static_cast<char>(header.size() >> 8) + header;
  const std::string_view pieces[] = {
      begin, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)}};
  write_atomically(path, pieces);
}

}  // namespace rondo
