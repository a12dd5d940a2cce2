// `lm generate`: prompts from files, several samples, stop strings, turns. Sampling itself: program_test.cpp
// and tests/lm/decoding.
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class GenerateTest : public SmallRunTest {
 protected:
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

// A request is answered as a command would; states of texts that begin in the same way change no bit; and
// what is refused stops nothing.
TEST_F(GenerateTest, RequestsOfPrograms) {
  std::string longest;
  for (int i = 0; i < 70; ++i) longest += i % 3 == 0 ? "the cat " : "sat ";
  const std::string other = longest.substr(0, longest.size() / 2) + "on ";
  std::string input;
  for (const std::string& prompt : {longest, other, longest, std::string("a mat")})
    input += nlohmann::json{{"prompt", prompt}, {"n", 9}, {"seed", 3}, {"candidates", 2}}.dump() + "\n";
  input += "{\"promt\": 1}\n{\"n\": \"x\"}\n{\"prompt\": null}\n[]\n{\"prompt\": 5}\n{\"stop\": [\"\"]}\n";
  input += "{\"prompt\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}\n";
  input += R"({"prompt": "zebu", "n": 1, "temperature": 0, "candidates": 1000})"
           "\n";
  for (const std::string stop : {"\n", "\\n"})  // the end of a line, and two characters
    input += nlohmann::json{{"prompt", "the cat"}, {"n", 60}, {"stop", {stop}}}.dump() + "\n";
  std::vector<nlohmann::json> answers;
  for (const std::string& line : lines_in(generated({"--json-lines"}, input).out))
    answers.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(answers.size(), 14U);
  const auto text = [&](size_t answer, size_t candidate) {
    return answers[answer]["candidates"][candidate]["text"].get<std::string>();
  };
  for (size_t i = 0; i < 4; ++i) {
    const std::string prompt = i == 1 ? other : i == 3 ? "a mat" : longest;
    for (const int candidate : {0, 1}) {
      const std::string whole = output_of_lm({"generate", data->path("run"), "--threads", "1", "-n", "9",
                                              "--prompt", prompt, "--seed", std::to_string(3 + candidate)});
      EXPECT_TRUE(whole.find(text(i, candidate)) != whole.npos) << i << ": " << whole << answers[i];
      EXPECT_GT(text(i, candidate).size(), 9U);
    }
  }
  EXPECT_LT(text(12, 0).size(), text(13, 0).size());
  EXPECT_EQ(answers[4]["error"], "request: unknown key 'promt'; did you mean 'prompt'?");
  for (const size_t refused : {5, 6, 7, 8, 9, 10})
    EXPECT_TRUE(answers[refused].contains("error")) << answers[refused];
  const auto probability = [&](size_t i) {
    return answers[11]["candidates"][i]["log_probability"].get<double>();
  };
  EXPECT_EQ(answers[11]["unknown"], nlohmann::json{"zebu"});
  const size_t count = answers[11]["candidates"].size();
  EXPECT_LT(count, 1000U) << "each begins with another symbol";
  for (size_t i = 1; i < count; ++i) EXPECT_LE(probability(i), probability(i - 1));
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
