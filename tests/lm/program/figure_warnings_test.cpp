// Warnings that protect a figure.
#include <cmath>
#include <limits>

#include "lm/report/evaluation_report.h"
#include "lm/tasks/text_options.h"
#include "lm/tasks/translation.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

TEST(FigureWarnings, SayWhatIsMeasuredAndGuessNothing) {
  EXPECT_EQ(warning_of_unknowns({"t.txt", 10, 100}), "");
  expect_contains(warning_of_unknowns({"t.txt", 11, 100}), "11.00 % of the 100 symbols of t.txt are unknown");
  EXPECT_EQ(warning_of_unknowns({"t.txt", 0, 0}), "");
  EXPECT_EQ(warning_of_unknowns({"t.txt", 11, 100, false}), "") << "only read";
  // Of an untrained one from a share that matters.
  const bool trained = false;
  EXPECT_EQ(warning_of_unknowns({"new.txt", 2, 3000}, trained), "");
  EXPECT_EQ(warning_of_unknowns({"new.txt", 0, 0}, trained), "");
  EXPECT_EQ(
      warning_of_unknowns({"new.txt", 3, 3000}, trained),
      "0.10 % of the 3000 symbols of new.txt are unknown to the vocabulary, or <unk> in the text, and "
      "<unk> was never trained: the figures are unreliable; a model trained with --set data.min_count=2 "
      "learns it");
  EXPECT_EQ(warning_of_unknowns({"new.txt", 3, 3000}), "");
  EXPECT_EQ(warning_of_unknowns({"source", 750, 3000, false}), "");
  EXPECT_EQ(warning_of_unknowns({"source", 751, 3000, false}),
            "25.03 % of the 3000 symbols of source are unknown to the vocabulary, or <unk> in the text, and "
            "are all "
            "read as the same symbol");
  EXPECT_EQ(warning_of_empty(2, 4), "");
  EXPECT_EQ(warning_of_empty(3, 4), "3 of 4 translations are empty");
  EXPECT_EQ(warning_of_cost(std::log(66.0), 66), "");
  EXPECT_EQ(warning_of_cost(5.4158, 66),
            "giving all 66 symbols the same probability costs 4.19 nats; this costs more");
  EXPECT_NE(warning_of_cost(std::numeric_limits<double>::quiet_NaN(), 66), "");
}

TEST(FigureWarnings, OfTextThatIsNotTokenized) {
  const auto note_of = [](const std::string& text, const Tokenization& tokenization) {
    return note_of_punctuation(Vocabulary(clean_text(text, "t.txt", Unit::words), tokenization));
  };
  EXPECT_EQ(note_of("the cat, the dog", {}),
            "20 % of the vocabulary's words end in punctuation, as 'cat,' does: --set data.tokenize=true "
            "separates it");
  EXPECT_EQ(note_of("the cat , the dog . Mr. A", {}), "");
  EXPECT_EQ(note_of("the cat, the dog", {.tokenize = true}), "");
  EXPECT_EQ(note_of("the cat, the dog", {.unit = Unit::characters}), "");
}

TEST(FigureWarnings, AreSaidByTraining) {
  const SmallData data;
  write_bytes(data / "data/valid.txt", SmallData().text(5) + "der hund lief weg und der hund lief weg\n");
  const Result result = run_lm_well(
      data.train("run", {"--steps", "30", "train.optimizer=sgd", "train.clip=0", "train.learning_rate=1e6"}));
  expect_contains(result.err, "the same probability costs 2.64 nats; this costs more\n");
  expect_contains(result.err, "valid.txt are unknown to the vocabulary, or <unk> in the text");
}

}  // namespace
}  // namespace rondo
