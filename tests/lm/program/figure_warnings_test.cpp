// Warnings that protect a figure, and files that are no text.
#include <cmath>
#include <limits>

#include "data/files/lines.h"
#include "lm/report/evaluation_report.h"
#include "lm/tasks/translation.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

TEST(FigureWarnings, UnknownSymbols) {
  EXPECT_EQ(warning_of_unknowns({"t.txt", 10, 100}), "");
  expect_contains(warning_of_unknowns({"t.txt", 11, 100}), "11.00 % of the 100 symbols of t.txt are unknown");
  EXPECT_EQ(warning_of_unknowns({"t.txt", 0, 0}), "");
  EXPECT_EQ(warning_of_unknowns({"t.txt", 11, 100, false}), "") << "only read";
}

TEST(FigureWarnings, TextsThatAreTheSame) {
  CorpusText texts;
  texts.train = {.name = "train.txt", .content = "a b", .sha256 = {}, .notes = {}};
  texts.valid = {.name = "valid.txt", .content = "c d", .sha256 = {}, .notes = {}};
  EXPECT_EQ(warning_of_same_texts(texts), "");
  texts.test = texts.valid;
  texts.test->name = "test.txt";
  expect_contains(warning_of_same_texts(texts), "test.txt is the same text as valid.txt");
  texts.test->content = "a b";
  expect_contains(warning_of_same_texts(texts), "test.txt is the same text as train.txt");
  texts.valid.content = "a b";
  expect_contains(warning_of_same_texts(texts), "valid.txt is the same text as train.txt");
}

TEST(FigureWarnings, AnUntrainedUnknownFromAShareThatMatters) {
  const bool trained = false;
  EXPECT_EQ(warning_of_unknowns({"new.txt", 2, 3000}, trained), "");
  EXPECT_EQ(warning_of_unknowns({"new.txt", 0, 0}, trained), "");
  EXPECT_EQ(
      warning_of_unknowns({"new.txt", 3, 3000}, trained),
      "0.10 % of the 3000 symbols of new.txt are unknown to the vocabulary, or <unk> in the text, and "
      "<unk> was never trained: the figures are unreliable; a model trained with --set data.min_count=2 "
      "learns it");
  EXPECT_EQ(warning_of_unknowns({"new.txt", 3, 3000}), "");
}

TEST(FigureWarnings, OfASourceAndOfEmptyTranslations) {
  EXPECT_EQ(warning_of_unknowns({"source", 750, 3000, false}), "");
  expect_contains(warning_of_unknowns({"source", 751, 3000, false}),
                  "in the language of the training text, and written like it");
  EXPECT_EQ(warning_of_empty(2, 4), "");
  EXPECT_NE(warning_of_empty(3, 4).find("3 of 4 translations are empty"), std::string::npos);
}

TEST(FigureWarnings, WorseThanEqualProbabilities) {
  EXPECT_EQ(warning_of_cost(std::log(66.0), 66, "why"), "");
  EXPECT_EQ(warning_of_cost(5.4158, 66, "why"),
            "giving all 66 symbols the same probability costs 4.19 nats; this costs more: why");
  EXPECT_NE(warning_of_cost(std::numeric_limits<double>::quiet_NaN(), 66, "why"), "");
  expect_contains(
      reason_of_cost(5.4158, 66, {}, "lm eval r"),
      "does not recover, as happens early in a training: if lm eval r --streams 64 finds much less");
  const std::string of_lines = reason_of_cost(5.4158, 66, {.line_end = 1}, "lm eval r");
  EXPECT_EQ(of_lines.find("stream"), std::string::npos);
  expect_contains(reason_of_cost(2.6e9, 66, {}, "lm eval r"), "lower train.learning_rate");
}

TEST(FigureWarnings, OfADivergedTraining) {
  const SmallData data;
  const Result result = run_lm(data.train("run", {"--steps", "30", "--set", "train.optimizer=sgd", "--set",
                                                  "train.clip=0", "--set", "train.learning_rate=1e6"}));
  EXPECT_EQ(result.status, 0) << result.err;
  expect_contains(result.err, "this costs more: the training has diverged; try a lower train.learning_rate");
  expect_contains(run_lm({"table", data.path("run")}).err,
                  "the figures on valid are worse than those of equal");
}

TEST(FigureWarnings, FilesThatAreNoText) {
  const SmallData data;
  write_bytes(data / "book.txt", std::string("\x1f\x8b\x08", 3) + std::string(500, 'x'));
  for (const std::string unit : {"words", "characters"})
    expect_refused(run_lm({"train", "--recipe", data.path("small.toml"), "--data", data.path("book.txt"),
                           "--out", data.path("new"), "--set", "data.unit=" + unit}),
                   "looks like a gzip file; give the text that is in it");
}

TEST(FigureWarnings, AreSaidByTraining) {
  const SmallData data;
  write_bytes(data / "data/valid.txt", SmallData().text(5) + "der hund lief weg und der hund lief weg\n");
  const Result result = run_lm(data.train("run", {"--epochs", "1"}));
  EXPECT_EQ(result.status, 0);
  expect_contains(result.err, "valid.txt are unknown to the vocabulary, or <unk> in the text");

  std::filesystem::copy(data / "data/train.txt", data / "data/valid.txt",
                        std::filesystem::copy_options::overwrite_existing);
  expect_contains(run_lm(data.train("same", {"--epochs", "1"})).err, "valid.txt is the same text as");
}

}  // namespace
}  // namespace rondo
