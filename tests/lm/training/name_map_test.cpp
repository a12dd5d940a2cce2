// Maps of names.
#include <gtest/gtest.h>

#include "lm/training/foreign_weights.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

using Parts = std::vector<std::string>;

TEST(NameMap, StarsStandForAnyText) {
  EXPECT_EQ(fit("a.b", "a.b"), Parts());
  EXPECT_EQ(fit("a.b", "a.bc"), std::nullopt);
  EXPECT_EQ(fit("*", ""), Parts{""});
  EXPECT_EQ(fit("rnns.*.module.weight_*_raw", "rnns.0.module.weight_hh_l0_raw"), (Parts{"0", "hh_l0"}));
  EXPECT_EQ(fit("a*b*c", "abbbc"), (Parts{"", "bb"}));
  EXPECT_EQ(fit("a*a", "a"), std::nullopt) << "letters do not count twice";
  EXPECT_EQ(fit("a*b", "xab"), std::nullopt);
  EXPECT_EQ(fit("*b*", "a"), std::nullopt);
  EXPECT_EQ(fit("*b", "ab\nb"), Parts{"ab\n"});
}

TEST(NameMap, RenamesByTheFirstRuleThatFits) {
  const NameMap map = NameMap::from_text(
      "# from another program\n"
      "\n"
      "head.weight = decoder.weight transposed\r\n"
      "  rnns.*.weight_*_l0=rnn.weight_*_l*\n"
      "optimizer.* =\n"
      "=decoder.bias\n"
      "*.w = *.weight\n",
      "map");
  EXPECT_EQ(map("head.weight").name, "decoder.weight");
  EXPECT_TRUE(map("head.weight").transposed);
  EXPECT_EQ(map("rnns.1.weight_hh_l0").name, "rnn.weight_1_lhh") << "in the order of the stars";
  EXPECT_EQ(map("optimizer.w").name, "");
  EXPECT_EQ(map("optimizer.w").by->line, 5);
  EXPECT_EQ(map("embedding.w").name, "embedding.weight");
  EXPECT_FALSE(map("embedding.w").transposed);
  EXPECT_EQ(map("embedding.weight").name, "embedding.weight");
  EXPECT_EQ(map("embedding.weight").by, nullptr);
  EXPECT_EQ(map.zeros(), std::vector<std::string>{"decoder.bias"});
  EXPECT_EQ(NameMap::from_text("a = transposed", "map")("a").name, "transposed") << "alone it is a name";
}

TEST(NameMap, RefusesWhatIsNoRule) {
  const auto refused = [](const std::string& text, const std::string& part) {
    expect_contains(error_of([&] { NameMap::from_text(text, "map"); }), part);
  };
  refused("a = b\nhead.weight", "map: line 2: 'head.weight': expected a rule: OLD = NEW");
  refused("a b = c", "names have no spaces");
  refused("a = b turned", "names have no spaces");
  refused("=", "a rule without names");
  refused("a.* = *.*", "each * of the new name needs one in the old name");
  refused("= a.*", "each * of the new name");
  refused("= a transposed", "zeros are zeros");
}

}  // namespace
}  // namespace rondo
