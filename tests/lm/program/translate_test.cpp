// `lm translate` and what it is given: options, lines that come one by one or are refused, the file
// of --attention.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "tests/lm/program/small_translator.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

class TranslateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    small = new SmallTranslator;
    small->trained("run", {"train.batch=5", "train.learning_rate=0.01"});  // to write more than an end
  }
  static void TearDownTestSuite() { delete small; }

  static std::string path(const std::string& name) { return small->path(name); }
  static Words translate(const Words& more = {}) {
    Words words{"translate", path("run"), "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Words translations(const Words& more, const std::string& input) {
    return lines_in(output_of_lm(translate(more), input));
  }

  static SmallTranslator* small;
};
SmallTranslator* TranslateTest::small = nullptr;

struct Scored {
  double score;
  std::string text;
};
Scored scored(const std::string& line) {
  const std::size_t tab = line.find('\t');
  return {std::stod(line.substr(0, tab)), line.substr(tab + 1)};
}
std::size_t words_of(const std::string& text) {
  return text.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
}

const std::string sentences = "a b c d e f\nc a\nb\nf e d c\n";

TEST_F(TranslateTest, WarnsIfMostTranslationsAreEmpty) {
  small->trained("untrained", {"train.batch=5", "train.learning_rate=1e-9"});
  const Result result = run_lm({"translate", path("untrained"), "--beam", "12"}, {.input = sentences});
  std::size_t empty = 0;
  for (const std::string& line : lines_in(result.out)) empty += line.empty();
  const bool warns = result.err.find("translations are empty") != std::string::npos;
  EXPECT_EQ(warns, empty > 2) << result.out << result.err;
  EXPECT_EQ(run_lm(translate(), {.input = sentences}).err, "");
  expect_contains(run_lm(translate(), {.input = "x y z\n"}).err, "of the 4 symbols of the input are unknown");
}

// Greedy search writes the same with any penalty, and so shows its formula: Wu et al. 2016, (14).
TEST_F(TranslateTest, LengthPenaltyDividesTheScore) {
  const Words plain = translations(
      {"--beam", "1", "--scores", "--set", "decoding.length_penalty=0", "--set", "decoding.max_length=100"},
      sentences);
  const Words penalized = translations(
      {"--beam", "1", "--scores", "--set", "decoding.length_penalty=0.7", "--set", "decoding.max_length=100"},
      sentences);
  ASSERT_EQ(plain.size(), 4u);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto [log_p, text] = scored(plain[i]);
    EXPECT_EQ(scored(penalized[i]).text, text);
    const double length = static_cast<double>(words_of(text)) + 1;  // with its end
    ASSERT_LT(length, 100);
    EXPECT_NEAR(scored(penalized[i]).score, log_p / std::pow((5 + length) / 6, 0.7), 2e-4);
  }
}

TEST_F(TranslateTest, AnEmptyLineHasAnEmptyTranslation) {
  EXPECT_EQ(output_of_lm(translate({"--scores"}), "\n"), "0.0000\t\n");
  EXPECT_EQ(output_of_lm(translate({"--set", "decoding.n_best=2"}), " \n"), "0 |||  ||| 0.0000\n");
}

TEST_F(TranslateTest, AByteOrderMarkIsNoWord) {
  const std::string mark = "\xef\xbb\xbf", file = path("marked.jsonl");
  EXPECT_EQ(translations({}, mark + "\r\n"), Words{""});
  EXPECT_EQ(output_of_lm(translate({"--attention", file}), mark + "a b\n"),
            output_of_lm(translate(), "a b\n"));
  EXPECT_EQ(Json::parse(bytes_of_file(file))["source"], Json({"a", "b", "</s>"}));
}

TEST_F(TranslateTest, AnswersEachLineOfAPipeAtOnce) {
  const std::string expected = output_of_lm(translate(), "a b\nc d\ne f\n");
  const std::string in = path("in"), out = path("out");
  ASSERT_EQ(mkfifo(in.c_str(), 0600), 0);
  Program program(translate(), {.stdin_file = in, .stdout_file = out, .max_seconds = 60});
  const int pipe = open(in.c_str(), O_WRONLY);
  std::size_t answered = 0;
  for (const std::string part : {"a b\n", "c d\ne", " f\n"}) {
    ASSERT_EQ(write(pipe, part.data(), part.size()), std::ssize(part));
    ++answered;
    EXPECT_TRUE(program.wait_until([&] { return lines_of(out) == answered; })) << part;
  }
  close(pipe);
  EXPECT_EQ(program.end().status, 0);
  EXPECT_EQ(bytes_of_file(out), expected);
}

TEST_F(TranslateTest, WhatPrecedesARefusedLineIsTranslated) {
  const Result result =
      run_lm(translate({"--attention", path("b.jsonl")}), {.input = "a b\nc d\n\xff\ne f\n"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, output_of_lm(translate(), "a b\nc d\n"));
  EXPECT_EQ(lines_in(result.err).size(), 1u);
  expect_contains(result.err, "standard input, line 3: not UTF-8");
  EXPECT_FALSE(std::filesystem::exists(path("b.jsonl")));
}

TEST_F(TranslateTest, AnInputThatIsRefusedAtOnceLosesNothing) {
  write_bytes(path("old.svg"), "old");
  expect_refused(run_lm(translate({"--attention", path("old.svg")}), {.input = "\xff\n"}),
                 "line 1: not UTF-8");
  EXPECT_EQ(bytes_of_file(path("old.svg")), "old");
  EXPECT_EQ(output_of_lm(translate({"--attention", path("old.svg")}), ""), "");
  EXPECT_TRUE(bytes_of_file(path("old.svg")).starts_with("<svg ")) << "an empty one, not that of other lines";
}

TEST_F(TranslateTest, AClosedInputIsAnError) {
  expect_refused(run_lm(translate(), {.input_is_closed = true}), "standard input: cannot be read");
}

}  // namespace
}  // namespace rondo
