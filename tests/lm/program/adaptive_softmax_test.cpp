// `lm` with model.output = "adaptive", from a text to a trained and measured run.
#include <cmath>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

constexpr const char* recipe_with_clusters = R"(
[data]
unit = "words"
[model]
embedding = 8
hidden = 16
output = "adaptive"
dropout = 0.1
[train]
epochs = 4
batch = 4
length = 8
learning_rate = 0.01
log_every = 1
)";

/// Words w0 to w29 of falling frequency.
class WordsByFrequency : public ToyTraining {
 public:
  WordsByFrequency() : ToyTraining(recipe_with_clusters) {
    write("data/train.txt", "w29 w28\n" + text(120));
    write("data/valid.txt", text(20));
    write("data/test.txt", text(20));
  }
  std::string text(int lines) {
    std::string written;
    for (int line = 0; line < lines; ++line) {
      for (int i = 0; i < 8; ++i) written += fmt::format("{}w{}", i > 0 ? " " : "", next(1 + next(30)));
      written += '\n';
    }
    return written;
  }
};

// That its probabilities sum to 1 and are those of its loss:
// tests/nn/output/adaptive_softmax_in_both_test.cpp.
TEST(AdaptiveSoftmaxRun, IsTrainedAndMeasured) {
  WordsByFrequency data;
  data.trained("run");
  const std::string run = data.path("run"), vocabulary = bytes_of_file(run + "/vocab.txt");
  EXPECT_LT(vocabulary.find("w0\n"), vocabulary.find("w29\n")) << "in order of frequency, for the clusters";

  // V is 32: 30 words, <eos> and <unk>. Cutoffs 1 and 8.
  const auto modules = json_of_lm({"info", run}).at("modules");
  EXPECT_EQ(modules.at("decoder.head"), (1 + 2) * 16);
  EXPECT_EQ(modules.at("decoder.tail.0.0"), 4 * 16);
  EXPECT_EQ(modules.at("decoder.tail.0.1"), 7 * 4);
  EXPECT_EQ(modules.at("decoder.tail.1.1"), 24 * 1);
  expect_contains(output_of_lm({"info", run}), "lstm, an adaptive softmax\n");
  EXPECT_TRUE(output_of_lm({"generate", run, "--prompt", "w1", "-n", "3"}).starts_with("w1"));

  const double nats = json_of_lm({"eval", run}).at("nats");
  EXPECT_LT(nats, std::log(31));
  EXPECT_LT(json_of_lm({"eval", run, "--cache", "cache.lambda=0.05"}).at("nats").get<double>(), nats + 1);
  EXPECT_NE(json_of_lm({"eval", run, "--dynamic"}).at("nats").get<double>(), nats);
}

// What is wrong in any text: recipes_test.cpp.
TEST(AdaptiveSoftmaxRun, RefusesAVocabularyThatDoesNotFillItsClusters) {
  const WordsByFrequency data;
  expect_refused_training(data, {"model.cutoffs=[10, 31]"},
                          "the last cluster begins at symbol 31 and needs two, and the vocabulary has 32");
  expect_refused_training(data, {"data.max_size=4"}, "it has only 4 symbols: set model.output = \"softmax\"");
}

}  // namespace
}  // namespace rondo
