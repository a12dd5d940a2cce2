#include "lm/settings/settings.h"

#include <gtest/gtest.h>

#include "data/text/text.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

struct Example {
  std::string shape = "round";
  std::string note, title;
  std::int64_t count = 3;
  double share = 0.5;
  bool loud = false;
  std::vector<std::int64_t> widths = {1, 2};
  std::vector<std::string> names;
  std::vector<double> shares = {1};

  std::vector<Key> keys() {
    return {{"look.shape", &shape, one_of({"round", "square"}), "", "its outline"},
            {"look.note", &note, any_text(), "", "anything"},
            {"look.title", &title, {}, "", "of one line"},
            {"size.count", &count, at_least(1), "pieces", "how many"},
            {"size.share", &share, from_to_below(0, 1), "", "of the whole"},
            {"size.loud", &loud, {}, "", "or quiet"},
            {"size.widths", &widths, between(1, 9), "units", "one each"},
            {"size.names", &names, {}, "", "of each"},
            {"size.shares", &shares, between(0, 1), "", "of each"}};
  }
  void set(const std::string& text) { apply_setting(parse_setting(text), keys()); }
  void read(const std::string& text) { read_toml(text, "f.toml", keys()); }
};

TEST(Settings, ReadsEveryType) {
  Example example;
  example.read(
      "[look]\nshape = 'square'\n[size]\ncount = 7\nshare = 0.25\nloud = true\nwidths = [3]\nnames = ['a', "
      "'b']\n");
  EXPECT_EQ(example.shape, "square");
  EXPECT_EQ(example.count, 7);
  EXPECT_EQ(example.share, 0.25);
  EXPECT_TRUE(example.loud);
  EXPECT_EQ(example.widths, std::vector<std::int64_t>{3});
  EXPECT_EQ(example.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(example.note, "");
  example.read("[size]\nwidths = 4\nshares = [0.5, 1]\n");  // one number is a list of one
  EXPECT_EQ(example.widths, std::vector<std::int64_t>{4});
  EXPECT_EQ(example.shares, (std::vector<double>{0.5, 1}));
  example.read("[size]\nshare = 0\nwidths = []\n");  // an integer is a number, too
  EXPECT_EQ(example.share, 0);
  EXPECT_TRUE(example.widths.empty());
  EXPECT_EQ(example.count, 7);
}

TEST(Settings, ErrorsNameFilePlaceKeyValueAndLimits) {
  Example example;
  const auto error = [&](const std::string& text) { return error_of([&] { example.read(text); }); };
  EXPECT_EQ(error("[size]\n\ncount = 0"),
            "f.toml:3:9: size.count = 0: expected an integer, at least 1 (pieces)");
  EXPECT_EQ(error("[size]\nshare = nan"), "f.toml:2:9: size.share = nan: expected a number, 0 to below 1");
  EXPECT_EQ(error("[size]\nloud = 1"), "f.toml:2:8: size.loud = 1: expected true or false");
  EXPECT_EQ(error("[size]\ncount = 2.5"),
            "f.toml:2:9: size.count = 2.5: expected an integer, at least 1 (pieces)");
  EXPECT_EQ(error("[size]\ncount = '2'"),
            "f.toml:2:9: size.count = \"2\": expected an integer, at least 1 (pieces)");
  EXPECT_EQ(error("[look]\nshape = 'triangle'"),
            "f.toml:2:9: look.shape = \"triangle\": expected one of: round, square");
  EXPECT_EQ(
      error("[size]\nwidths = [1, 10]"),
      "f.toml:2:10: size.widths = [1, 10]: expected a list of integers, 1 to 9, as in [650, 650] (units)");
  EXPECT_EQ(
      error("[size]\nwidths = [1, 'x']"),
      "f.toml:2:10: size.widths = this list: expected a list of integers, 1 to 9, as in [650, 650] (units)");
  EXPECT_EQ(error("[size]\n\n\ncuont = 2"),
            "f.toml:4:1: unknown key 'size.cuont'; did you mean 'size.count'?");
  EXPECT_EQ(error("[sise]\ncount = 2"), "f.toml:1:1: unknown section [sise]; did you mean 'size'?");
  EXPECT_EQ(error("count = 2"), "f.toml:1:1: unknown key 'count'; did you mean 'size.count'?");
  EXPECT_EQ(error("size = 2"), "f.toml:1:1: 'size' is a section: write [size] and its keys below");
  expect_contains(error("[size]\ncount = = 2"), "f.toml:2:9: not valid TOML");
  expect_contains(error("[size]\ncount = 2\ncount = 2"), "f.toml:3:1: not valid TOML");
  expect_contains(error("\xff"), "f.toml:1:1: not valid TOML");
  EXPECT_EQ(example.count, 3) << "nothing bad is assigned";
}

TEST(Settings, StringsHaveNoControlCharactersButWhereFilesAreNamed) {
  Example example;
  for (const std::string bad : {"\\u001b[2J", "\\u0000", "\\n", "\\u007f", "\\u009b", "\xc2\x9b"})
    EXPECT_EQ(error_of([&] { example.read("[look]\ntitle = \"" + bad + "\""); }).substr(0, 25),
              "f.toml:2:9: look.title = ")
        << bad;
  expect_contains(error_of([&] { example.set("look.title=\x1b[2J"); }),
                  "expected a string without control characters");
  example.read("[look]\ntitle = \"\xc3\xa9 \\\\n\"\nnote = \"a\\tb\\n\\u001b\"");
  EXPECT_EQ(example.title, "\xc3\xa9 \\n");
  EXPECT_EQ(example.note, "a\tb\n\x1b");
  expect_contains(error_of([&] { example.read("[look]\nnote = \"\\u0000\""); }),
                  "expected a string without U+0000");
}

TEST(Settings, ErrorsQuoteTheBeginOfWhatIsLong) {
  Example example;
  const std::string letters(1 << 20, 'x');
  const auto error = [&](const std::string& text) { return error_of([&] { example.read(text); }); };
  for (const std::string& text :
       {letters + " = 1", "[" + letters + "]\nx = 1", "[size]\n" + letters + " = 1",
        "[look]\nshape = '" + letters + "'", "[size]\ncount = " + letters,
        "[size]\ncount = 1" + std::string(1 << 20, '0'), letters + "." + letters + "=1",
        "[size]\nwidths = [" + std::string(1 << 20, ' ') + "0]"}) {
    EXPECT_LT(error(text).size(), 500u);
    EXPECT_EQ(error(text).substr(0, 7), "f.toml:");
  }
  EXPECT_LT(error_of([&] { example.set("size." + letters + "=1"); }).size(), 500u);
  EXPECT_LT(error_of([&] { example.set("size.count=" + letters); }).size(), 500u);
}

TEST(Settings, SetTakesBareStringsAndTomlValues) {
  Example example;
  example.set("look.shape=square");
  EXPECT_EQ(example.shape, "square");
  example.set("look.shape = \"round\"");
  EXPECT_EQ(example.shape, "round");
  example.set("look.note=say \"hi\" \\ = 1 # two");
  EXPECT_EQ(example.note, "say \"hi\" \\ = 1 # two");
  example.set("look.note=");
  EXPECT_EQ(example.note, "");
  example.set("size.share=1e-1");
  EXPECT_EQ(example.share, 0.1);
  example.set("size.loud=true");
  EXPECT_TRUE(example.loud);
  example.set("size.widths=[4, 5]");
  EXPECT_EQ(example.widths, (std::vector<std::int64_t>{4, 5}));
}

TEST(Settings, SetErrors) {
  Example example;
  const auto error = [&](const std::string& text) { return error_of([&] { example.set(text); }); };
  EXPECT_EQ(error("size.count"), "--set size.count: expected key=value, as in --set model.layers=2");
  EXPECT_EQ(error("size.count=many"),
            "--set size.count=many: size.count = many: expected an integer, at least 1 (pieces)");
  EXPECT_EQ(error("count=2"), "--set count=2: unknown key 'count'; did you mean 'size.count'?");
  for (const char* value : {"", "1\nx=2", "\xc3\xa9", "1\xc3\xa9", "\xff", "1 2", "1 # two", "[1", "[1,\n]",
                            "1]", "{}", "=", "[", "#", "0x1", "1979-05-27"})
    EXPECT_EQ(error("size.count=" + std::string(value)),
              fmt::format("--set size.count={0}: size.count = {1}: expected an integer, at least 1 (pieces)",
                          printable(value), printable(value)))
        << value;
  EXPECT_EQ(error("look.shape=rond"),
            "--set look.shape=rond: look.shape = \"rond\": expected one of: round, square; did you mean "
            "'round'?");
  expect_contains(error("size.loud=yes"), "expected true or false");
  for (const char* bad : {"=2", "size.share=inf", "look.shape=\"round", "look.shape='round' # or square"})
    EXPECT_NE(error(bad), "") << bad;
  EXPECT_EQ(example.count, 3);
}

TEST(Settings, WhatIsWrittenReadsBackExactly) {
  Example example;
  example.note = "quote \" backslash \\ line\n tab\t bell\a del\x7f \xc3\xa9";
  example.share = 1.0 / 3;
  example.count = INT64_MAX;
  example.names = {"a,b", "]", ""};
  const std::string text = write_toml(example.keys());
  expect_contains(text, "count = 9223372036854775807  # how many (pieces)\n");
  Example back;
  back.read(text);
  EXPECT_EQ(back.note, example.note);
  EXPECT_EQ(back.share, example.share);
  EXPECT_EQ(back.count, example.count);
  EXPECT_EQ(back.names, example.names);
  EXPECT_EQ(write_toml(back.keys()), text);
  example.share = 0;
  expect_contains(write_toml(example.keys()), "share = 0.0 ");
}

}  // namespace
}  // namespace rondo
