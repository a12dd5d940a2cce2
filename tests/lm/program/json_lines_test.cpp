#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

#include "lm/program/files.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

/// What reading a file of these lines comes to; of each line "n" is taken.
std::vector<std::int64_t> numbers_of(const std::string& lines) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.jsonl", lines);
  std::vector<std::int64_t> numbers;
  read_json_lines(folder / "a.jsonl", "a test writes", [&](const nlohmann::json& entry) {
    numbers.push_back(integer_at(entry, "n"));
    return numbers.back() != 13;
  });
  return numbers;
}

TEST(JsonLines, ReadsWholeLines) {
  EXPECT_EQ(numbers_of("{\"n\": 1}\n{\"n\": -2, \"more\": {\"of\": [\"[[[[\", \"\\\"[[[[\"]}}\n{\"n\": 3"),
            (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(numbers_of("{\"n\":9223372036854775807}\n{\"n\":-9223372036854775808}\n"),
            (std::vector<std::int64_t>{INT64_MAX, INT64_MIN}));
  EXPECT_EQ(numbers_of("{\"n\": 1}\n{\"n\": 2}"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(numbers_of("{\"n\": 1}\n{\"of\": {}"), (std::vector<std::int64_t>{1}));
  const TemporaryFolder folder;
  const auto none = [](const nlohmann::json&) { return false; };
  EXPECT_NO_THROW(read_json_lines(folder / "none", "a test writes", none));
  std::filesystem::create_symlink("itself", folder / "itself");
  expect_contains(error_of([&] { read_json_lines(folder / "itself", "a test writes", none); }),
                  "itself: cannot be opened: Too many levels of symbolic links");
}

TEST(JsonLines, SaysWhichLineIsNone) {
  const auto refusal = [](const std::string& line) {
    const std::string text = error_of([&] { numbers_of("{\"n\": 1}\n" + line + "\n"); });
    expect_contains(text, "a.jsonl:2: not a line that a test writes");
    expect_contains(text, "; remove it");
    return text;
  };
  for (const char* line : {"", "5", "{", "{\"m\": 1}", "{\"n\": 13}", "{\"n\": 1e999}", "\xff"})
    refusal(line);
  // Numbers that a conversion would take, and change.
  for (const char* number : {"9223372036854775808", "-9223372036854775809", "99999999999999999999", "1e300",
                             "1.5", "1.0", "true", "null", "\"1\""})
    expect_contains(refusal(fmt::format("{{\"n\": {}}}", number)), "(n must be a whole number below 2^63)");
  for (const char* open : {"[", "{\"n\":"}) {
    std::string deep;
    for (int i = 0; i < 1'000'000; ++i) deep += open;
    expect_contains(refusal(deep), "(nested too deeply)");
  }
}

TEST(JsonLines, TakeTimeInProportionToTheirKeys) {
  std::string line = "{\"n\": 1";
  for (int i = 0; i < 100'000; ++i) line += fmt::format(",\"{}\":0", i);
  const std::clock_t start = std::clock();
  EXPECT_EQ(numbers_of(line + "}\n").size(), 1u);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10)
      << "a tenth of a second; half a minute where each key is looked for among all before it";
}

}  // namespace
}  // namespace rondo
