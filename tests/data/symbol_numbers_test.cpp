// Symbols and their numbers, beside std::map: data/text/vocabulary.h.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "data/text/vocabulary.h"

namespace rondo {
namespace {

TEST(SymbolNumbers, AreThoseOfAMap) {
  std::mt19937 random(1);
  SymbolNumbers table;
  std::map<std::string, std::int32_t> expected;
  EXPECT_EQ(table.find("a"), SymbolNumbers::none);
  for (int i = 0; i < 30'000; ++i) {
    std::string symbol(random() % 20, 'a');
    for (char& c : symbol) c = "ab\0\xff"[random() % 4];
    const auto before = expected.find(symbol);
    EXPECT_EQ(table.find(symbol), before == expected.end() ? SymbolNumbers::none : before->second);
    const auto [number, is_new] = table.add(symbol);
    EXPECT_EQ(is_new, before == expected.end());
    EXPECT_EQ(number, expected.try_emplace(symbol, static_cast<std::int32_t>(expected.size())).first->second);
  }
  ASSERT_EQ(table.symbols().size(), expected.size());
  ASSERT_GT(expected.size(), 10'000u);
  for (const auto& [symbol, number] : expected) {
    EXPECT_EQ(table.symbols()[static_cast<std::size_t>(number)], symbol);
    EXPECT_EQ(table.find(symbol), number);
  }
}

}  // namespace
}  // namespace rondo
