// `lm translate` and what it is given: options, lines that come one by one or are refused, the file
// of --attention.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lm/program/small_translator.h"

namespace rondo {
namespace {

class TranslateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    small = new SmallTranslator;
    small->trained("run", {"train.batch=5", "train.learning_rate=0.01"});  // to write more than an end
  }
  static void TearDownTestSuite() { delete small; }

  static std::string path(const std::string& name) { return small->path(name); }
  static Words translate(const Words& more = {}) {
    return Words{"translate", path("run"), "--threads", "1"} + more;
  }
  static Words translations(const Words& more, const std::string& input) {
    return lines_in(output_of_lm(translate(more), input));
  }

  inline static SmallTranslator* small = nullptr;
};

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

// Its formula: tests/lm/decoding/beam_search_test.cpp.
TEST_F(TranslateTest, TakesALengthPenalty) {
  const auto scored = [](const std::string& penalty) {
    return translations({"--beam", "1", "--scores", "decoding.length_penalty=" + penalty}, sentences);
  };
  EXPECT_NE(scored("0"), scored("0.7"));
}

TEST_F(TranslateTest, AnEmptyLineHasAnEmptyTranslation) {
  EXPECT_EQ(output_of_lm(translate({"--scores"}), "\n"), "0.0000\t\n");
  EXPECT_EQ(output_of_lm(translate({"decoding.n_best=2"}), " \n"), "0 |||  ||| 0.0000\n");
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
  EXPECT_FALSE(fs::exists(path("b.jsonl")));
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
