// Sentences of several classes, from files to a trained and measured run.
#include <cmath>
#include <map>

#include "data/text/text.h"
#include "lm/program/recipe.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

constexpr const char* recipe = R"(
[recipe]
task = "classification"
[model]
embedding = 6
hidden = 8
dropout = 0.1
[train]
epochs = 5
batch = 10
learning_rate = 0.03
log_every = 1
)";

/// Sentences with labels; whether a sentence is "good" depends on its words.
class LabelledData : public ToyTraining {
 public:
  LabelledData() : ToyTraining(recipe) {
    write("data/train.txt", text(200));
    write("data/valid.txt", text(40));
    write("data/test.txt", text(50));
  }

  std::string text(int lines) {
    const Words words{"the", "film", "is", "a", "long", "story"};
    std::string written;
    for (int line = 0; line < lines; ++line) {
      const std::size_t length = 2 + next(5), place = next(length);
      const bool good = next(2) == 0;
      written += good ? "yes" : "no";
      for (std::size_t i = 0; i < length; ++i)
        written += ' ' + (i == place ? (good ? "fine" : "bad") : words[next(words.size())]);
      written += '\n';
    }
    return written;
  }
};

class ClassificationRun : public testing::Test {
 protected:
  LabelledData data;
  const std::string run = data.path("run");
};

TEST_F(ClassificationRun, IsTrainedAndMeasured) {
  const std::string told = data.trained("run");
  expect_contains(told, "200 sentences of 2 classes");
  expect_contains(told, "lm classify " + run);
  EXPECT_EQ(told.find("no such file"), std::string::npos);
  expect_contains(told, "accuracy");
  EXPECT_EQ(bytes_of_file(run + "/labels.txt"), "no\nyes\n");
  const std::vector<Json> log = log_of(run);
  EXPECT_EQ(log.back().at("split"), "test");
  EXPECT_EQ(log.back().at("sentences"), 50);
  EXPECT_GE(log.back().at("accuracy").get<double>(), 95);

  for (const auto& [split, sentences] :
       std::map<std::string, int>{{"train", 200}, {"valid", 40}, {"test", 50}}) {
    const auto json = json_of_lm({"eval", run, "--split", split, "--threads", "1"});
    EXPECT_EQ(json.at("split"), split);
    EXPECT_EQ(json.at("sentences"), sentences);
    EXPECT_NEAR(json.at("accuracy").get<double>(), 100 * json.at("correct").get<double>() / sentences, 1e-9);
    if (split == "test") {
      EXPECT_EQ(json.at("accuracy"), log.back().at("accuracy"));
      EXPECT_EQ(json.at("nats"), log.back().at("nats"));
    }
  }
  expect_contains(output_of_lm({"eval", run}), "valid: 40 sentences\naccuracy ");
  // Kept: two by the training, then these four.
  EXPECT_EQ(lines_of(run + "/evaluations.jsonl"), 6u);
}

TEST_F(ClassificationRun, ClassifiesSentences) {
  data.trained("run");
  EXPECT_EQ(output_of_lm({"classify", run}, "the film is fine\n\na bad story\r\n  \nfine"),
            "yes\n\nno\n\nyes\n");
  EXPECT_EQ(output_of_lm({"classify", run}, ""), "");
  std::string many, of_many;
  for (int i = 0; i < 600; ++i) many += "the film is fine\n", of_many += "yes\n";
  const Result classified = run_lm({"classify", run}, {.input = many});
  EXPECT_EQ(classified.out, of_many);
  EXPECT_EQ(classified.err, "") << "no progress where there is no terminal";

  // As many are right as `lm eval` finds, and the probabilities are those of its nats.
  std::string sentences;
  Words labels;
  const std::string test = bytes_of_file(data.path("data/test.txt"));
  for (const std::string_view line : split_lines(test)) {
    labels.emplace_back(line.substr(0, line.find(' ')));
    sentences += std::string(line.substr(line.find(' ') + 1)) + '\n';
  }
  const std::string out = output_of_lm({"classify", run, "--scores", "--threads", "1"}, sentences);
  const std::vector<std::string_view> lines = split_lines(out);
  ASSERT_EQ(lines.size(), labels.size());
  int correct = 0;
  double nats = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t tab = lines[i].find('\t');
    const double probability = std::stod(std::string(lines[i].substr(tab + 1)));
    EXPECT_GE(probability, 0.5) << "of two classes";
    const bool right = lines[i].substr(0, tab) == labels[i];
    correct += right;
    nats -= std::log(right ? probability : 1 - probability) / static_cast<double>(lines.size());
  }
  const auto eval = json_of_lm({"eval", run, "--split", "test", "--threads", "1"});
  EXPECT_EQ(eval.at("correct"), correct);
  EXPECT_NEAR(eval.at("nats").get<double>(), nats, 1e-3);
}

TEST_F(ClassificationRun, ResumesToTheSameBytes) {
  expect_resumes_to_the_same_bytes(data, {}, {1, 25, 70}, {"labels.txt"});
}

TEST_F(ClassificationRun, WhatIsHeldOutIsFoundAgain) {
  const Words share{"data.valid_file=", "data.valid_share=0.2", "--epochs", "2"};
  expect_contains(data.trained("run", share), "40 of 200 sentences are held out as the valid text");
  const auto json = json_of_lm({"eval", run, "--threads", "1"});
  EXPECT_EQ(json.at("sentences"), 40);
  const std::vector<Json> log = log_of(run);  // ends with the best model on valid and test
  EXPECT_EQ(log.at(log.size() - 2).at("split"), "valid");
  EXPECT_EQ(log.at(log.size() - 2).at("nats"), json.at("nats"));
}

TEST_F(ClassificationRun, IsDescribedVerifiedAndShown) {
  data.trained("run", {"--epochs", "1"});
  expect_contains(output_of_lm({"info", run}), "vocabulary  10 words, 2 classes");
  EXPECT_EQ(json_of_lm({"info", run}).at("vocabulary_size"), 10);
  expect_contains(output_of_lm({"info", "--recipe", "classify-trec", "--vocab-size", "9"}), "max over time");
  const double accuracy = json_of_lm({"eval", run, "--split", "valid"}).at("accuracy");
  EXPECT_EQ(json_of_lm({"eval", run, data.path("data/valid.txt")}).at("accuracy"), accuracy);
  EXPECT_EQ(rows_of_table({run})[0].at("valid accuracy"), accuracy);
  write_bytes(run + "/labels.txt", "0\n2\n");
  expect_refused({"eval", run}, "labels.txt: not the vocabulary that this run was made with");
  fs::remove(run + "/labels.txt");
  expect_refused({"eval", run}, "labels.txt");
}

TEST_F(ClassificationRun, WarnsOfUnknownWordsAndOfATextThatHasChanged) {
  const std::string unknown = "are unknown to the vocabulary";
  data.trained("run", {"--epochs", "1"});
  EXPECT_EQ(run_lm_well({"eval", run}).err, "");
  data.write("data/valid.txt", data.text(10));
  expect_contains(run_lm_well({"eval", run}).err, "has changed since this run was made");
  data.write("other.txt", "yes das ist neu\nno das auch\n");
  expect_contains(run_lm_well({"eval", run, data.path("other.txt")}).err, unknown);
  expect_contains(run_lm_well({"classify", run}, {.input = "das ist neu\n"}).err, unknown);
  EXPECT_EQ(run_lm_well({"classify", run}, {.input = "the film is fine\n"}).err, "");
}

TEST_F(ClassificationRun, OtherCommandsRefuseIt) {
  data.trained("run", {"--epochs", "1"});
  for (const Words& words :
       std::vector<Words>{{"generate", run}, {"score", run}, {"translate", run}, {"finetune", run}})
    expect_refused(words, "classification");
  for (const Words& more : std::vector<Words>{{"--dynamic"}, {"--cache"}, {"--streams", "2"}})
    expect_refused(Words{"eval", run} + more, "are for language models");
  expect_refused({"eval", run, data.path("toy.toml")}, "toy.toml: line 3: no sentence of the training text");
  expect_refused({"eval", run, "--split", "new"}, "--split");
  expect_refused({"eval", run, "model.hidden=2"},
                 "--set model.hidden=2: a run is evaluated as it was trained");
  expect_refused({"eval", run, "--task", "new"}, "one task alone");
}

// Files that say something wrong: tests/data/sentences/labelled_sentences_test.cpp.
TEST_F(ClassificationRun, BadInputIsRefusedBeforeARunIsMade) {
  // So small that the weights are rounded to 0.
  expect_refused(data.train("zeros", {"model.init_all=1e-60"}), "no gradient reaches", 1);
  expect_refused_training(data, {"model.zoneout_memory=0.1", "model.cell=gru"}, "zoneout_memory");
  expect_refused_training(data, {"data.unit=bytes", "data.encoding=windows_1252"},
                          "bytes are read as they are");
  data.write("data/valid.txt", std::string("yes a film\nno a\0b\n", 18));
  expect_refused_training(data, {}, "valid.txt: a NUL byte");
  expect_refused({"train", "--recipe", data.path("toy.toml"), "--out", data.path("new")}, "--data");
}

// A value of each key that changes what a training of a few steps does.
TEST_F(ClassificationRun, EachKeyOfItsSectionsHasAnEffect) {
  data.write("data/other.txt", data.text(40));
  expect_each_has_an_effect(data, R"(
    data.train_file=other.txt data.valid_file=other.txt data.test_file=other.txt
    data.valid_share=0.1&data.valid_file= data.test_share=0.1&data.test_file= data.unit=characters
    data.min_count=1000 data.max_size=5
    model.cell=gru model.embedding=5 model.hidden=6 model.layers=2 model.bidirectional=false
    model.summary=mean model.summary=last model.dropout=0.4 model.variational=true model.init_all=0.2
    model.trained_initial_states=true model.weight_drop=0.3 model.forget_bias=1
    train.batch=8 train.batch_by=symbols)");
}

}  // namespace
}  // namespace rondo
