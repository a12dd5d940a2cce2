// The ids of a text: in memory, or in a file that is mapped, so that the operating system loads what is
// used and can drop it again. Next: data/text/streams.h.
//
// Such a file has the ids, of 32 bits each in the machine's byte order, and after them what was counted and
// the SHA-256 of the ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rondo {

/// What is counted of a text while it becomes ids.
struct IdCounts {
  std::int64_t unknowns = 0;                // ids of `<unk>`
  std::int64_t bytes = 0, first_bytes = 0;  // of the text, and those up to the end of its first symbol
};

/// Does not change; copies share the memory.
class TextIds {
 public:
  TextIds(std::vector<std::int32_t> ids = {});  // NOLINT: a vector is ids

  operator std::span<const std::int32_t>() const { return ids_; }  // NOLINT: and ids are a span
  const std::int32_t* begin() const { return ids_.data(); }
  const std::int32_t* end() const { return ids_.data() + ids_.size(); }
  std::size_t size() const { return ids_.size(); }
  bool empty() const { return ids_.empty(); }
  std::int32_t operator[](std::size_t i) const { return ids_[i]; }
  friend bool operator==(const TextIds& a, std::span<const std::int32_t> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  friend struct IdFile;
  std::shared_ptr<const void> memory_;
  std::span<const std::int32_t> ids_;
};

/// A file of ids, and what was counted.
struct IdFile {
  TextIds ids{};
  IdCounts counts{};

  /// Writes it: `write` passes the ids part by part and returns what it counted. `key` names text and
  /// vocabulary, and is a SHA-256. Error as of write_atomically().
  using Pass = std::function<void(std::span<const std::int32_t>)>;
  static void write(const std::filesystem::path& path, const std::string& key,
                    const std::function<IdCounts(const Pass&)>& write);
  /// Maps it; nothing if it is not a complete, undamaged file with this key, or cannot be read. Error if it
  /// cannot be mapped.
  static std::optional<IdFile> mapped(const std::filesystem::path& path, const std::string& key);
};

}  // namespace rondo
