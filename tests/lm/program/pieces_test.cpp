// Runs on pieces of words, of a language model and of a translator, from the training to text and figures.
// What pieces are is tested in tests/data/text/pieces_test.cpp.
#include "data/text/pieces.h"

#include <algorithm>

#include "data/text/vocabulary.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

const Words of_pieces{"data.unit=pieces", "data.pieces=260", "data.pieces_model=bpe"};

class PieceRuns : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_sentencepiece()) GTEST_SKIP() << "built without sentencepiece";
  }
  SmallData data_;
};

TEST_F(PieceRuns, ALanguageModelIsMeasuredAndGeneratesText) {
  data_.trained("run", of_pieces + Words{"--epochs", "2"});
  const std::string run = data_.path("run");
  EXPECT_TRUE(fs::exists(data_ / "run/vocab.pieces"));

  const auto figures = json_of_lm({"eval", run, "--split", "test"});
  const double bits = figures.at("bits").get<double>() * figures.at("symbols").get<double>();
  const auto text = bytes_of_file(data_ / "data/test.txt");
  EXPECT_NEAR(bits / figures.at("bits_per_byte").get<double>(), static_cast<double>(text.size()), 4)
      << "without the first piece, which is not scored";
  EXPECT_EQ(figures.at("unknowns"), 0);
  EXPECT_LT(figures.at("symbols"), text.size() * 3 / 4) << "pieces are longer than characters";

  const std::string prompt = " the dog, \xe2\x82\xac 5";
  const std::string out = output_of_lm({"generate", run, "--prompt", prompt, "-n", "5", "--seed", "1"});
  EXPECT_TRUE(out.starts_with(prompt)) << out;
  const std::string scores = output_of_lm({"score", run}, "the cat\n\n\xe2\x82\xac\n");
  EXPECT_EQ(std::ranges::count(scores, '\n'), 3);
  expect_contains(output_of_lm({"info", run}), "260 pieces");
}

TEST_F(PieceRuns, BitsPerByteCompareUnits) {
  data_.trained("characters", {"--epochs", "1", "data.unit=characters"});
  const auto characters = json_of_lm({"eval", data_.path("characters"), "--split", "test"});
  EXPECT_NEAR(characters.at("bits_per_byte"), characters.at("bits"), 1e-9) << "of ASCII";
  data_.trained("words", {"--epochs", "1"});
  const auto words = json_of_lm({"eval", data_.path("words"), "--split", "test"});
  const auto text = bytes_of_file(data_ / "data/test.txt");
  EXPECT_NEAR(
      words.at("bits_per_byte"),
      words.at("bits").get<double>() * (20 * 8 - 1) / static_cast<double>(text.size() - text.find(' ')),
      1e-9);
}

TEST_F(PieceRuns, EqualTrainingsAndResumedOnesEndInTheSameBytes) {
  data_.trained("whole", of_pieces + Words{"--epochs", "2"});
  data_.trained("part", of_pieces + Words{"--epochs", "1"});
  output_of_lm(data_.resume("part", {"--epochs", "2"}));  // with the pieces of the run
  EXPECT_EQ(data_.model_digest("part"), data_.model_digest("whole"));
  EXPECT_EQ(bytes_of_file(data_ / "part/vocab.pieces"), bytes_of_file(data_ / "whole/vocab.pieces"));
}

TEST_F(PieceRuns, BadInputIsRefusedInOneLine) {
  const auto refused = [&](const std::string& setting, const std::string& part) {
    expect_refused(data_.train("new", {"data.unit=pieces", setting}), part);
    EXPECT_FALSE(fs::exists(data_ / "new"));
  };
  refused("data.pieces=0", "data.pieces");
  refused("data.pieces=20", "data.pieces = 20 are too few");
  refused("data.vocabulary=all", "train.txt alone");

  data_.trained("run", of_pieces + Words{"--epochs", "1"});
  const fs::path model = data_ / "run/vocab.pieces";
  write_bytes(model, "text\n");
  expect_refused({"eval", data_.path("run")}, "vocab.pieces");
  fs::remove(model);
  expect_refused({"eval", data_.path("run")}, "vocab.pieces");
}

TEST_F(PieceRuns, ATranslatorWritesWholeWords) {
  const fs::path folder = data_ / "pairs";
  fs::create_directory(folder);
  for (const std::string split : {"train", "valid", "test"}) {
    const std::string text = data_.text(split == "train" ? 100 : 10);
    write_bytes(folder / (split + ".de"), text);
    write_bytes(folder / (split + ".en"), text);
  }
  write_bytes(data_ / "translator.toml", R"(
[recipe]
task = "translation"
[data]
source_language = "de"
target_language = "en"
unit = "pieces"
pieces = 260
pieces_model = "bpe"
min_count = 2
[model]
cell = "lstm"
embedding = 12
hidden = 16
attention = "general"
[train]
epochs = 2
batch = 10
optimizer = "adam"
learning_rate = 0.01
)");
  for (const std::string shared : {"false", "true"}) {
    const std::string run = data_.path("shared-" + shared);
    output_of_lm({"train", "--recipe", data_.path("translator.toml"), "--data", folder, "--out", run,
                  "--threads", "1", "data.shared_vocabulary=" + shared});
    for (const std::string file : {"vocab.source.pieces", "vocab.target.pieces"})
      EXPECT_TRUE(fs::exists(fs::path(run) / file)) << file;
    const std::string out = output_of_lm({"translate", run}, "the cat sat on a mat\n\nthe \xe2\x82\xac\n");
    EXPECT_EQ(std::ranges::count(out, '\n'), 3) << out;
    EXPECT_FALSE(out.starts_with(' ')) << "no space before the first word: " << out;
    const auto figures = json_of_lm({"eval", run, "--split", "test"});
    EXPECT_GT(figures.at("bits_per_byte"), 0);
    EXPECT_GE(figures.at("bleu"), 0);
    write_bytes(fs::path(run) / "vocab.target.pieces", "no model");
    expect_refused({"translate", run}, "vocab.target.pieces");
  }
}

}  // namespace
}  // namespace rondo
