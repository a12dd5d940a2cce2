#include "lm/settings/toml.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "lm/program/recipe.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

std::string shown(const TomlValue& value) {
  std::string all = value.is_list ? "[" : "";
  for (const TomlScalar& it : value.scalars)
    all += std::visit([](const auto& of) { return toml_text(of); }, it) + (value.is_list ? ";" : "");
  return all + (value.is_list ? "]" : "");
}

/// What was read: "key=value section.key=value ".
std::string shown(const std::vector<TomlKey>& keys) {
  std::string all;
  for (const TomlKey& key : keys)
    if (!key.name.ends_with('.')) all += key.name + "=" + shown(key.value) + " ";
  return all;
}

std::string error_in(const std::string& text) {
  return error_of([&] { parse_toml(text, "f"); });
}

TEST(Toml, SectionsKeysAndComments) {
  const std::vector<std::pair<std::string, std::string>> good = {
      {"", ""},
      {"\n \t\r\n# only a comment", ""},
      {"[a]", ""},
      {"[ a-_0 ]# c\nc = 1\n[b]", "a-_0.c=1 "},
      {"[a]\nb=1", "a.b=1 "},
      {" [a]\n\tb\t=\t1\t# one\r\n\r\n c = 2 \n", "a.b=1 a.c=2 "},
      {"a = 1\n[b]\na = 2", "a=1 b.a=2 "},
      {"[a.b]\nc = 1\n[ a . d ]\nc = 2\n[a]\ne = 3", "a.b.c=1 a.d.c=2 a.e=3 "},
      {"1 = 1\n-true = 2", "1=1 -true=2 "},
      {"\xef\xbb\xbf[a]\nb = 1", "a.b=1 "},  // a byte-order mark
      {"# \xc3\xa9\t\xf0\x9f\x98\x80\n", ""}};
  for (const auto& [text, expected] : good) EXPECT_EQ(shown(parse_toml(text, "f")), expected) << text;
}

TEST(Toml, Values) {
  const std::vector<std::pair<std::string, std::string>> good = {
      {"true", "true"},
      {"-17", "-17"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {".5", "0.5"},
      {"5.", "5.0"},
      {"01", "1"},
      {"9223372036854775808", "9.223372036854776e+18"},
      {"1E+03", "1000.0"},
      {"5e-324", "5e-324"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"inf", "inf"},
      {"nan", "nan"},
      {"\"\"", "\"\""},
      {R"('a "b" \n # c')", R"("a \"b\" \\n # c")"},
      {R"("# 'a' \" \\ \b\t\n\f\r")", R"("# 'a' \" \\ \b\t\n\f\r")"},
      {R"("\u00e9\uD7FF\u0000\u007f")", "\"\xc3\xa9\xed\x9f\xbf\\u0000\\u007f\""},
      {"'tab\there \xc3\xa9'", "\"tab\\there \xc3\xa9\""},
      {"[ ]", "[]"},
      {"[1, 2 ,\t3,]", "[1;2;3;]"},
      {"[ # first\n\n 1 # one\n , # two\r\n 'a]'\n,# end\n ]", "[1;\"a]\";]"},
      {"[1, 2.0, true, \"x\"]", "[1;2.0;true;\"x\";]"}};
  for (const auto& [text, expected] : good) {
    EXPECT_EQ(shown(parse_toml_value(text)), expected) << text;
    EXPECT_EQ(shown(parse_toml("key = " + text + " # comment", "f")), "key=" + expected + " ") << text;
  }
}

TEST(Toml, Positions) {
  std::string places;
  for (const TomlKey& it : parse_toml("a = 1\n\n  [b]\r\nc = [ # x\n1]\n \td =  2", "f"))
    places += place_text("", it.position) + place_text(" ", it.value_position) + "\n";
  EXPECT_EQ(places, ":1:1 :1:5\n:3:3 :3:3\n:4:1 :4:5\n:6:3 :6:8\n");
  EXPECT_EQ(error_in("a = '\xc3\xa9\xf0\x9f\x98\x80' x").substr(0, 7), "f:1:10:") << "columns are characters";
}

TEST(Toml, WhatIsNotTomlSaysWhere) {
  const std::string escape = "a tab or a bad escape in a string: \\ comes before one of btnfr\"\\ and uXXXX";
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"a", "1:2: expected '=' after 'a', not the end of the text"},
      {"a\n= 1", "1:2: expected '=' after 'a', not the end of the line"},
      {"a b = 1", "1:3: expected '=' after 'a', not 'b'"},
      {"= 1", "1:1: expected a name, not '='"},
      {"\xc3\xa9 = 1", "1:1: expected a name, not '\xc3\xa9'"},
      {"a\xff = 1", "1:2: expected '=' after 'a', not '\\xff'"},
      {std::string("a\0 = 1", 6), "1:2: expected '=' after 'a', not '\\x00'"},
      {"[a", "1:3: expected ']', not the end of the text"},
      {"[]", "1:2: expected a name, not ']'"},
      {"[a] b = 1", "1:5: expected the end of the line, not 'b'"},
      {"[a]\n[b]\n [a]", "3:2: [a] appears twice"},
      {"[s]\na = 1\n\na = 1", "4:1: 's.a' appears twice"},
      {"[a.b]\n[a.b]", "2:1: [a.b] appears twice"},
      {"a =", "1:4: expected a value, not the end of the text"},
      {"a = \nb = 1", "1:5: expected a value, not the end of the line"},
      {"a = # none", "1:5: expected a value, not '#'"},
      {"a = 1 2", "1:7: expected the end of the line, not '2'"},
      {"a = 1\r", "1:6: expected the end of the line, not '\\x0d'"},
      {"a = lstm", "1:5: 'lstm' is no value; a string needs quotes"},
      {"a = 1__0", "1:5: '1__0' is no value; a string needs quotes"},
      {"a = 1e", "1:5: '1e' is no value; a string needs quotes"},
      {"a = --1", "1:5: '--1' is no value; a string needs quotes"},
      {"a = 1.2.3", "1:5: '1.2.3' is no value; a string needs quotes"},
      {"a = 1e400", "1:5: '1e400' is no value; a string needs quotes"},
      {"a = \"x", "1:5: this string has no \" at its end"},
      {"a = 'x\n'", "1:5: this string has no ' at its end"},
      {"a = 'x\r\n'", "1:5: this string has no ' at its end"},
      {"a = \"\\", "1:5: this string has no \" at its end"},
      {"a = \"\\e\"", "1:5: " + escape},
      {"a = \"\\u12\"", "1:5: " + escape},
      {"a = \"\\u-123\"", "1:5: " + escape},
      {"a = \"\\ud800\"", "1:5: " + escape},
      {"a = \"x\tb\"", "1:5: " + escape},
      {"a = '\x1b'", "1:6: the control character 0x1b; in a string in double quotes, write \\u001b"},
      {"a = '\x7f'", "1:6: the control character 0x7f; in a string in double quotes, write \\u007f"},
      {"a = 'b\rc'", "1:7: the control character 0x0d; in a string in double quotes, write \\u000d"},
      {std::string("# \0", 3),
       "1:3: the control character 0x00; in a string in double quotes, write \\u0000"},
      {"a = '\xff'", "1:6: the byte 0xff is not UTF-8"},
      {"# \xc3", "1:3: the byte 0xc3 is not UTF-8"},
      {"a = [", "1:6: expected a value, not the end of the text"},
      {"a = [,]", "1:6: expected a value, not ','"},
      {"a = [1,,2]", "1:8: expected a value, not ','"},
      {"a = [1\n\n b = 2]", "3:2: expected ',' or ']' after a value of a list, not 'b'"},
      {"a = [1] ]", "1:9: expected the end of the line, not ']'"}};
  for (const auto& [text, expected] : bad) {
    const std::size_t place = expected.find(": ");
    EXPECT_EQ(error_in(text), "f:" + expected.substr(0, place) + ": not valid TOML" + expected.substr(place))
        << text;
  }
}

TEST(Toml, WhatIsNotSupportedIsRefused) {
  for (const std::string text :
       {"[[a]]", "[a]\nb.c = 1", "a.b = 1", "\"a\" = 1", "['a']", "a = {}", "a = [1, [2]]", "a = [{}]",
        "a = \"\"\"b\"\"\"", "a = \'\'\'b\'\'\'", "a = 1979-05-27", "a = 1979-05-27T07:32:00.5Z",
        "a = 07:32:00", "a = 0xff", "a = 0o17", "a = 0b11", "a = 1_000", "a = +1"})
    expect_contains(error_in(text), "not valid TOML: ");
}

// Each of them ended a process that read TOML by a library.
TEST(Toml, NothingAborts) {
  const auto repeated = [](const std::string& text) {
    std::string all;
    for (int i = 0; i < 230'000; ++i) all += text;
    return all;
  };
  for (const std::string& text :
       {std::string("[="), std::string("[#"), std::string("[.a]"), std::string("[\xc3\xa9]"),
        repeated("[") + "\n", repeated("a.") + "a = 1", "a = " + repeated("["), "a = " + repeated("{a=")})
    EXPECT_EQ(error_in(text).substr(0, 4), "f:1:") << text.substr(0, 10);
  EXPECT_EQ(error_in(std::string(max_toml_bytes, ' ') + "\n").substr(0, 11), "f: 4194305 ");
}

// Every beginning of a text that has everything: what is cut off must not be missed.
TEST(Toml, BeginningsOfATextAreReadOrRefused) {
  const std::string text =
      "ab = -10.5e-1\r\n[c] # \xc3\xa9\nd = [ 'x', # y\n\"\\u00e9\\n\\\"\" , true,]\nf = nan";
  int refused = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    // In memory of its own, so that a sanitizer sees what is read beyond its end.
    const std::vector<char> begin(text.data(), text.data() + size);
    try {
      parse_toml({begin.data(), begin.size()}, "f");
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 32);
  EXPECT_LT(refused, 62);
}

TEST(Toml, WhatIsWrittenReadsBackExactly) {
  std::mt19937_64 random(1);
  const auto back = [](const auto& value) { return parse_toml_value(toml_text(value)).scalars.front(); };
  using Limits = std::numeric_limits<double>;
  std::vector<double> numbers = {0.0, -0.0, 1e15, 1e16, 0.1, Limits::max(), Limits::min()};
  numbers.insert(numbers.end(), {Limits::denorm_min(), Limits::infinity(), -Limits::infinity()});
  for (int i = 0; i < 2'000; ++i) numbers.push_back(std::bit_cast<double>(random()));
  for (const double number : numbers) {
    const double read = std::get<double>(back(number));
    EXPECT_TRUE(std::isnan(number)
                    ? std::isnan(read)
                    : std::bit_cast<std::uint64_t>(read) == std::bit_cast<std::uint64_t>(number))
        << toml_text(number);
  }
  for (const std::int64_t number : {INT64_MIN, std::int64_t{-1}, INT64_MAX})
    EXPECT_EQ(std::get<std::int64_t>(back(number)), number);
  std::string text = "u0041'#],\xf0\x9f\x98\x80\xc2\x85\x7f";
  for (char c = 0; c < 127; ++c) text += c;
  EXPECT_EQ(std::get<std::string>(back(text)), text);
  EXPECT_EQ(toml_text(std::string("\xff x \xe2\x82")), "\"\xef\xbf\xbd x \xef\xbf\xbd\"");
}

TEST(Toml, AFileThatIsTooLargeIsNotReadToItsEnd) {
  const TemporaryFolder folder;
  const auto path = folder / "large.toml";
  write_bytes(path, "[model]\nhidden = 7\n");
  std::filesystem::resize_file(path, 64 << 20);
  EXPECT_EQ(error_of([&] { load_recipe(path); }), path.string() + ": more than 4194304 bytes: another file?");
}

}  // namespace
}  // namespace rondo
