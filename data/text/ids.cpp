// TextIds in memory and in files. POSIX calls: the standard library maps no files.
#include "data/text/ids.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// After the ids.
struct Footer {
  static constexpr std::size_t digest = 64;  // hexadecimal
  std::array<char, 16> format{};
  std::array<char, digest> key{}, sha256{};
  IdCounts counts{};
};
constexpr std::string_view format_name = "rondo ids 2";

template <std::size_t N>
void put(std::array<char, N>& to, std::string_view text) {
  check(text.size() <= N, "[ids] at most {} letters were expected: '{}'", N, text);
  std::copy(text.begin(), text.end(), to.begin());
}
template <std::size_t N>
std::string_view text_of(const std::array<char, N>& it) {
  return std::string_view(it.data(), N).substr(0, std::string_view(it.data(), N).find('\0'));
}

template <class Value>
std::string_view bytes_of(std::span<const Value> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// Of the ids, then of their counts.
std::string digest_of(const InputFile& file, std::uint64_t end, const IdCounts& counts) {
  Sha256 digest;
  std::string part;
  for (std::uint64_t at = 0; at < end; at += part.size()) {
    part.resize(static_cast<std::size_t>(std::min<std::uint64_t>(std::uint64_t{1} << 18, end - at)));
    file.read(at, part);
    digest.update(part);
  }
  digest.update(bytes_of(std::span<const IdCounts>(&counts, 1)));
  return digest.hex();
}

}  // namespace

TextIds::TextIds(std::vector<std::int32_t> ids) {
  const auto held = std::make_shared<const std::vector<std::int32_t>>(std::move(ids));
  ids_ = *held;
  memory_ = held;
}

void IdFile::write(const std::filesystem::path& path, const std::string& key,
                   const std::function<IdCounts(const Pass&)>& write) {
  write_atomically(path, [&](const WritePiece& write_piece) {
    Sha256 digest;
    Footer footer;
    footer.counts = write([&](std::span<const std::int32_t> part) {
      digest.update(bytes_of(part));
      write_piece(bytes_of(part));
    });
    digest.update(bytes_of(std::span<const IdCounts>(&footer.counts, 1)));
    put(footer.format, format_name);
    put(footer.key, key);
    put(footer.sha256, digest.hex());
    write_piece(bytes_of(std::span<const Footer>(&footer, 1)));
  });
}

std::optional<IdFile> IdFile::mapped(const std::filesystem::path& path, const std::string& key) try {
  const InputFile file(path);
  if (file.size() < sizeof(Footer) || (file.size() - sizeof(Footer)) % sizeof(std::int32_t) != 0) return {};
  const std::uint64_t bytes = file.size() - sizeof(Footer);
  Footer footer;
  file.read(bytes, {reinterpret_cast<char*>(&footer), sizeof footer});
  if (text_of(footer.format) != format_name || text_of(footer.key) != key) return {};
  if (text_of(footer.sha256) != digest_of(file, bytes, footer.counts)) return {};

  IdFile it;
  it.counts = footer.counts;
  if (bytes == 0) return it;
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check_system(opened >= 0, "{}: cannot be opened", path.native());
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, opened, 0);
  close(opened);
  check(memory != MAP_FAILED, "{}: cannot be mapped: there is no room for its {} bytes", path.string(),
        bytes);
  it.ids.memory_ = {memory, [bytes](const void* mapped) { munmap(const_cast<void*>(mapped), bytes); }};
  it.ids.ids_ = {static_cast<const std::int32_t*>(memory), bytes / sizeof(std::int32_t)};
  return it;
} catch (const InputError&) {
  return {};
}

}  // namespace rondo
