// `lm generate`: prompts from files, several samples, stop strings, turns. Sampling itself: program_test.cpp
// and tests/lm/decoding.
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class GenerateTest : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("run", {"--epochs", "1"});
  }

  static Result generated(const Words& more, const std::string& input = "") {
    return run_lm(Words{"generate", data->path("run"), "--threads", "1", "--seed", "3"} + more,
                  {.input = input});
  }
};

TEST_F(GenerateTest, APromptFromAFile) {
  write_bytes(*data / "prompt.txt", "the cat");
  const std::string expected = generated({"--prompt", "the cat", "-n", "9"}).out;
  EXPECT_EQ(generated({"--prompt-file", data->path("prompt.txt"), "-n", "9"}).out, expected);
  EXPECT_EQ(generated({"--prompt-file", "-", "-n", "9"}, "the cat").out, expected);
  expect_contains(generated({"--prompt-file", data->path("none")}).err, "cannot be opened");
  expect_contains(generated({"--prompt-file", "-", "--prompt", "a"}).err, "excludes");
}

TEST_F(GenerateTest, WhatIsNoPrompt) {
  write_bytes(*data / "packed", "\x1f\x8b\x08 and so on");
  expect_refused(generated({"--prompt-file", data->path("packed")}), "packed: its format is gzip");
  std::string unknown;
  for (int i = 0; i < 500; ++i) unknown += fmt::format(" x{}", i);
  EXPECT_LT(generated({"--prompt", unknown, "-n", "1"}).err.size(), 300u) << "some of them, not all";
  data->trained("letters", {"--epochs", "1", "data.unit=characters"});
  const Result result = run_lm({"generate", data->path("letters"), "--prompt", "caf\xe9"});
  expect_refused(result, "--prompt: not UTF-8 at byte 3: 0xe9; convert it to UTF-8");
  EXPECT_EQ(result.err.find("data.unit"), std::string::npos) << "the run has its unit";
}

TEST_F(GenerateTest, SeveralSamples) {
  const std::string first = generated({"-n", "9"}).out;
  const std::string out = generated({"-n", "9", "--samples", "2"}).out;
  EXPECT_TRUE(out.starts_with("--- 1\n" + first + "--- 2\n")) << out;
  EXPECT_EQ(out.substr(out.find("--- 2\n") + 6),
            run_lm({"generate", data->path("run"), "--threads", "1", "--seed", "4", "-n", "9"}).out);
}

TEST_F(GenerateTest, StopsBeforeAString) {
  const std::string whole = generated({"-n", "60"}).out;
  const std::size_t space = whole.find(' ', 10);
  ASSERT_NE(space, std::string::npos);
  const std::string stop = whole.substr(space, 5);
  EXPECT_EQ(generated({"-n", "60", "--stop", stop}).out, whole.substr(0, whole.find(stop)) + "\n");
  EXPECT_EQ(generated({"-n", "60", "--stop", "zebra"}).out, whole);
  for (const char* end_of_line : {"\n", "\\n", "<eos>"})
    EXPECT_EQ(generated({"-n", "60", "--stop", end_of_line}).out, whole.substr(0, whole.find('\n') + 1));
}

}  // namespace
}  // namespace rondo
