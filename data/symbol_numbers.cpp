// Symbols and their numbers.
#include "data/symbol_numbers.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tensor/error.h"

namespace rondo {
namespace {

template <class Word>
std::uint64_t word_at(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t mixed(std::uint64_t a) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
  a *= odd;
  return (a ^ (a >> 32)) * odd;
}

}  // namespace

/// Eight bytes at a time; the last words may overlap.
std::uint64_t SymbolNumbers::hash_of(std::string_view symbol) {
  const char *at = symbol.data(), *const end = at + symbol.size();
  std::uint64_t hash = mixed(symbol.size());
  for (; end - at > 8; at += 8) hash = mixed(hash ^ word_at<std::uint64_t>(at));
  const std::size_t size = symbol.size();
  if (size >= 8)
    hash ^= word_at<std::uint64_t>(end - 8);
  else if (size >= 4)
    hash ^= word_at<std::uint32_t>(symbol.data()) | word_at<std::uint32_t>(end - 4) << 32;
  else if (size >= 1)
    hash ^= word_at<unsigned char>(symbol.data()) | word_at<unsigned char>(symbol.data() + size / 2) << 8 |
            word_at<unsigned char>(end - 1) << 16;
  hash = mixed(hash);
  return hash ^ (hash >> 32);
}

SymbolNumbers::Slot SymbolNumbers::slot_for(std::string_view symbol, std::uint64_t hash) {
  constexpr std::size_t most = 15;  // in four bits
  Slot slot;
  std::memcpy(&slot.begin, symbol.data(), std::min(symbol.size(), sizeof slot.begin));
  slot.tag =
      static_cast<std::uint32_t>(hash >> 32 << 4) | static_cast<std::uint32_t>(std::min(symbol.size(), most));
  return slot;
}

std::size_t SymbolNumbers::slot_of(std::string_view symbol, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const Slot wanted = slot_for(symbol, hash);
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.number == none) return i;
    if (slot.begin == wanted.begin && slot.tag == wanted.tag &&
        (symbol.size() <= sizeof slot.begin || symbols_[static_cast<std::size_t>(slot.number)] == symbol))
      return i;
  }
}

std::pair<std::int32_t, bool> SymbolNumbers::add(std::string_view symbol, std::uint64_t hash) {
  std::size_t i = slot_of(symbol, hash);
  if (slots_[i].number != none) return {slots_[i].number, false};
  check_input(symbols_.size() < std::numeric_limits<std::int32_t>::max(), "more than {} different symbols",
              symbols_.size());
  if (2 * (symbols_.size() + 1) > slots_.size()) {
    grow();
    i = slot_of(symbol, hash);
  }
  slots_[i] = slot_for(symbol, hash);
  slots_[i].number = static_cast<std::int32_t>(symbols_.size());
  symbols_.emplace_back(symbol);
  return {slots_[i].number, true};
}

void SymbolNumbers::grow() {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : before) {
    if (slot.number == none) continue;
    std::size_t i = hash_of(symbols_[static_cast<std::size_t>(slot.number)]) & mask;
    while (slots_[i].number != none) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

}  // namespace rondo
