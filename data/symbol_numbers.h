// Symbols and their numbers, in the order in which they came. It is what a text of gigabytes waits for, and
// so an open-addressing hash table: a look-up needs two places in memory, one where std::unordered_map
// follows a list. Next: data/vocabulary.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo {

class SymbolNumbers {
 public:
  /// The number of a symbol, which is new if it had none: then it gets the next one, from 0.
  std::pair<std::int32_t, bool> add(std::string_view symbol);
  /// The number, or `none`.
  std::int32_t find(std::string_view symbol) const;
  static constexpr std::int32_t none = -1;

  /// By number.
  const std::vector<std::string>& symbols() const { return symbols_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;  // its upper half; the lower one says where the search begins
    std::int32_t number = none;
  };
  /// The slot that has the symbol, or the free one where it belongs.
  std::size_t slot_of(std::string_view symbol, std::uint64_t hash) const;
  void grow();

  std::vector<std::string> symbols_;
  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two, at most half of them used
};

}  // namespace rondo
