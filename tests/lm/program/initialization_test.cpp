// `lm train --init-from RUN --data NEW`: a training that begins with the weights and vocabulary of a run.
#include "data/files/input_file.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class InitializationTest : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("base", {"--epochs", "2"});
    SmallData other;
    fs::create_directory(*data / "new");
    for (const std::string split : {"train", "valid", "test"}) {
      std::string text = other.text(split == "train" ? 120 : 20);
      // Two words that the base does not know, of twelve.
      for (const auto& [from, to] : {std::pair<std::string, std::string>{"cat", "cow"}, {"dog", "pig"}})
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, 3, to);
      write_bytes(*data / "new" / (split + ".txt"), text);
    }
  }

  static Words begin(const std::string& name, const Words& more = {}) {
    return Words{"train", "--init-from",    data->path("base"), "--data", data->path("new"),
                 "--out", data->path(name), "--threads",        "1"} +
           more;
  }
};

TEST_F(InitializationTest, KeepsTheVocabularyAndBeginsWithTheWeights) {
  const Result result = run_lm_well(begin("run", {"--epochs", "3"}));
  EXPECT_EQ(bytes_of_file(*data / "run/vocab.txt"), bytes_of_file(*data / "base/vocab.txt"));
  expect_contains(result.err, "of the 960 symbols of " + data->path("new/train.txt") + " are unknown");
  expect_contains(result.out, "it began with the weights and the vocabulary of " + data->path("base"));
  // Its first figure is that of the base on the new text.
  const auto of_base =
      json_of_lm({"eval", data->path("base"), "--text", data->path("new/valid.txt"), "--threads", "1"});
  std::vector<Json> evaluations;
  for (const auto& entry : log_of(*data / "run"))
    if (entry.at("event") == "evaluation") evaluations.push_back(entry);
  EXPECT_EQ(evaluations.front().at("epoch"), 0);
  EXPECT_NEAR(evaluations.front().at("nats").get<double>(), of_base.at("nats").get<double>(), 0.05);
  const auto last = json_of_lm({"eval", data->path("run"), "--threads", "1"});
  EXPECT_LT(last.at("nats"), evaluations.front().at("nats")) << "it has learnt";

  // The base never saw <unk>; the new text has words that its vocabulary lacks.
  const std::string never = "never trained";
  for (const std::string name : {"base", "run"}) {
    const std::string told = run_lm({"eval", data->path(name), "--text", data->path("new/test.txt")}).err +
                             run_lm({"score", data->path(name)}, {.input = "the zebra sat\n"}).err +
                             run_lm({"generate", data->path(name), "--prompt", "zebra", "-n", "1"}).err;
    std::size_t times = 0;
    for (std::size_t at = 0; (at = told.find(never, at)) != std::string::npos; ++times) at += never.size();
    EXPECT_EQ(times, name == "base" ? 3u : 0u) << told;
  }
}

TEST_F(InitializationTest, AVocabularyMayComeFromAFile) {
  const std::string file = data->path("symbols.txt"), vocabulary = bytes_of_file(*data / "base/vocab.txt");
  write_bytes(file, vocabulary);
  const auto train = [&](const std::string& name, const std::string& epochs) {
    return data->train_on("new", name, {"--epochs", epochs, "data.vocabulary_file=" + file});
  };
  expect_contains(run_lm_well(train("of_file", "1")).err,
                  "of the 960 symbols of " + data->path("new/train.txt") + " are unknown");
  EXPECT_EQ(bytes_of_file(*data / "of_file/vocab.txt"), vocabulary);
  const Result never = run_lm({"eval", data->path("of_file"), "--split", "test"});
  EXPECT_EQ(never.err.find("never trained"), std::string::npos) << never.err;
  output_of_lm({"score", data->path("base"), "--with", data->path("of_file"), "--threads", "1"}, "the cat\n");

  output_of_lm(train("whole_of_file", "2"));
  write_bytes(file, "<eos>\n<unk>\n");  // a resumed run has its own
  output_of_lm(data->resume("of_file", {"--epochs", "2"}));
  EXPECT_EQ(data->model_digest("of_file"), data->model_digest("whole_of_file"));
  fs::remove(file);
  expect_refused(train("none", "1"), "symbols.txt");
}

TEST_F(InitializationTest, AnUntrainedUnknownOfAFileIsSaid) {
  const std::string file = data->path("unknown_first.txt");
  std::string symbols = "<unk>\n" + bytes_of_file(*data / "base/vocab.txt");
  if (const std::size_t second = symbols.find("<unk>\n", 1); second != symbols.npos) symbols.erase(second, 6);
  write_bytes(file, symbols);
  data->trained("untrained", {"--steps", "2", "data.vocabulary_file=" + file});
  expect_contains(run_lm({"eval", data->path("untrained"), "--text", data->path("new/test.txt")}).err,
                  "never trained");
  expect_refused(begin("other", {"data.vocabulary_file=" + file}), "cannot change");
}

TEST_F(InitializationTest, SaysThatNoUpdateWasBetter) {
  output_of_lm(begin("worse", {"train.learning_rate=0.5", "--steps", "3"}));
  EXPECT_EQ(data->model_digest("worse"), data->model_digest("base"));
  EXPECT_EQ(rows_of_table({data->path("worse")})[0].at("state"), "finished, weights unchanged");
  output_of_lm(begin("better", {"--epochs", "1"}));
  EXPECT_FALSE(rows_of_table({data->path("better")})[0].contains("state"));
  expect_contains(run_lm({"table", data->path("better")}).err,
                  data->path("better") + ": warning: many unknown symbols");
}

TEST_F(InitializationTest, ResumesExactly) {
  const Words more = {"--epochs", "2"};
  output_of_lm(begin("whole", more));
  output_of_lm(begin("parts", {"--epochs", "1"}));
  output_of_lm(data->resume("parts", more));
  EXPECT_EQ(data->model_digest("parts"), data->model_digest("whole"));
  expect_contains(output_of_lm({"table", data->path("whole")}), "small, begun with base (whole)");
  // And a finetuning has the vocabulary, too.
  output_of_lm({"finetune", data->path("whole"), "--out", data->path("fine"), "--epochs", "1", "--threads",
                "1", "finetune.learning_rate=0.1"});
  EXPECT_EQ(bytes_of_file(*data / "fine/vocab.txt"), bytes_of_file(*data / "base/vocab.txt"));
}

TEST_F(InitializationTest, WhatItRefuses) {
  const auto refused = [&](const Words& more, const std::string& part) {
    expect_refused(begin("refused", more), part);
    EXPECT_FALSE(fs::exists(*data / "refused"));
  };
  refused({"model.hidden=9"}, "the model is that of its run");
  refused({"data.unit=characters"}, "the vocabulary is that of its run");
  refused({"model.hiden=9"}, "did you mean");
  Words words = begin("refused");
  words[2] = data->path("none");
  expect_refused(words, "no run at");
  expect_refused({"finetune", data->path("base"), "--data", data->path("new"), "finetune.learning_rate=1"},
                 "not the text of this run, by its SHA-256; --data says where that text lies now");
}

// The steps that ended a trial are among its settings.
TEST_F(InitializationTest, EpochsThatAreGivenEndATrainingInPlaceOfTheBasesSteps) {
  const std::string trial = data->path("trial");
  data->trained("trial", {"--steps", "3"});
  Words inherited = begin("inherited"), epochs = begin("epochs", {"--epochs", "1"});
  inherited[2] = epochs[2] = trial;
  const std::string out = output_of_lm(inherited);
  expect_contains(out, "the vocabulary of " + trial + ", and ends after 3 steps (train.steps)");
  const std::string by_epochs = output_of_lm(epochs);
  EXPECT_EQ(by_epochs.find("train.steps"), std::string::npos) << by_epochs;
  const auto epochs_of = [&](const std::string& run) {
    return rows_of_table({data->path(run)})[0].at("epochs").get<double>();
  };
  EXPECT_LT(epochs_of("inherited"), 1);
  EXPECT_EQ(epochs_of("epochs"), 1);
  output_of_lm({"train", "--recipe", trial + "/config.toml", "--data", data->path("new"), "--out",
                data->path("of-file"), "--threads", "1", "--epochs", "1"});
  EXPECT_EQ(epochs_of("of-file"), 1);
}

}  // namespace
}  // namespace rondo
