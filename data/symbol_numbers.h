// Symbols and their numbers, in the order in which they came. Reading a text of gigabytes takes most of its
// time here, so this is an open-addressing hash table whose places can be fetched before they are needed,
// and where a short symbol is compared without looking it up elsewhere. Next: data/vocabulary.h.
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
  std::pair<std::int32_t, bool> add(std::string_view symbol) { return add(symbol, hash_of(symbol)); }
  /// The number, or `none`.
  std::int32_t find(std::string_view symbol) const { return find(symbol, hash_of(symbol)); }
  static constexpr std::int32_t none = -1;

  /// The same in two steps: what is fetched for a hash some symbols before comes without waiting.
  static std::uint64_t hash_of(std::string_view symbol);
  void fetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  std::pair<std::int32_t, bool> add(std::string_view symbol, std::uint64_t hash);
  std::int32_t find(std::string_view symbol, std::uint64_t hash) const {
    return slots_[slot_of(symbol, hash)].number;
  }

  /// By number.
  const std::vector<std::string>& symbols() const { return symbols_; }

 private:
  struct Slot {
    std::uint64_t begin = 0;  // the first eight bytes of the symbol, with zeros behind a shorter one
    std::uint32_t tag = 0;    // its size, at most 15, and 28 bits of its hash
    std::int32_t number = none;
  };
  static Slot slot_for(std::string_view symbol, std::uint64_t hash);
  /// The slot that has the symbol, or the free one where it belongs.
  std::size_t slot_of(std::string_view symbol, std::uint64_t hash) const;
  void grow();

  std::vector<std::string> symbols_;
  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two, at most half of them used
};

}  // namespace rondo
