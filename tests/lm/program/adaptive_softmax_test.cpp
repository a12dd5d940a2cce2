// `lm` with model.output = "adaptive", from a text to a trained, measured and resumed run.
#include <cmath>
#include <map>
#include <sstream>

#include "data/text/text.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

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
    write("data/train.txt", text(120));
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

Words rows_of(const std::string& text) {
  Words rows;
  for (const std::string_view line : split_lines(text)) rows.emplace_back(line);
  return rows;
}

TEST(AdaptiveSoftmaxRun, IsTrainedAndMeasuredWithExactProbabilities) {
  WordsByFrequency data;
  output_of_lm(data.train("run"));
  const std::string run = data.path("run");

  // The vocabulary is in order of frequency, which clusters are cut by.
  std::map<std::string, int> counts;
  const std::string train = bytes_of_file(data.path("data/train.txt"));
  std::istringstream words(train);
  for (std::string word; words >> word;) ++counts[word];
  counts["<eos>"] = 120;
  Words vocabulary = rows_of(bytes_of_file(run + "/vocab.txt"));
  ASSERT_EQ(vocabulary.back(), "<unk>");
  for (size_t i = 1; i + 1 < vocabulary.size(); ++i)
    EXPECT_GE(counts.at(vocabulary[i - 1]), counts.at(vocabulary[i])) << vocabulary[i];

  // V is 32: 30 words, <eos> and <unk>. Cutoffs 1 and 8.
  ASSERT_EQ(vocabulary.size(), 32u);
  const Json info = json_of_lm({"info", run});
  EXPECT_EQ(info.at("modules").at("decoder.head"), (1 + 2) * 16);
  EXPECT_EQ(info.at("modules").at("decoder.tail.0.0"), 4 * 16);
  EXPECT_EQ(info.at("modules").at("decoder.tail.0.1"), 7 * 4);
  EXPECT_EQ(info.at("modules").at("decoder.tail.1.1"), 24 * 1);
  expect_contains(output_of_lm({"info", run}), "lstm, an adaptive softmax\n");

  // The probabilities of all that may follow a word sum to 1, and what is written at temperature 0 is the
  // most probable.
  std::string lines;
  for (const std::string& word : vocabulary)
    if (word != "<eos>") lines += "w1 " + word + "\n";
  std::istringstream scored(output_of_lm({"score", run, "--per-symbol"}, lines + "w1\n"));
  std::map<std::string, double> after_w1;
  std::string id, symbol, log_p, before, id_before;
  while (scored >> id >> symbol >> log_p) {
    if (id == id_before && before == "w1") after_w1.try_emplace(symbol, std::stod(log_p));
    before = id == id_before ? "" : symbol;
    id_before = id;
  }
  ASSERT_EQ(after_w1.size(), 32u);
  double sum = 0;
  auto best = after_w1.begin();
  for (auto it = after_w1.begin(); it != after_w1.end(); ++it) {
    sum += std::exp(it->second);
    if (it->second > best->second) best = it;
  }
  EXPECT_NEAR(sum, 1, 1e-4);
  const std::string written =
      output_of_lm({"generate", run, "--prompt", "w1", "-n", "1", "--temperature", "0"});
  EXPECT_EQ(written, best->first == "<eos>" ? "w1\n" : "w1 " + best->first + "\n");

  const double nats = json_of_lm({"eval", run}).at("nats");
  EXPECT_LT(nats, std::log(31));
  EXPECT_LT(json_of_lm({"eval", run, "--cache", "--set", "cache.lambda=0.05"}).at("nats").get<double>(),
            nats + 1);
  EXPECT_NE(json_of_lm({"eval", run, "--dynamic"}).at("nats").get<double>(), nats);
}

TEST(AdaptiveSoftmaxRun, ResumesToTheSameBytes) {
  const WordsByFrequency data;
  expect_resumes_to_the_same_bytes(data, {}, {1, 40, 80}, {"vocab.txt"});
}

TEST(AdaptiveSoftmaxRun, SaysWhatIsWrongBeforeItWritesAnything) {
  const WordsByFrequency data;
  const auto refused = [&](const Words& settings, const std::string& part) {
    Words more;
    for (const std::string& setting : settings) more.insert(more.end(), {"--set", setting});
    expect_refused_training(data, more, part);
  };
  refused({"model.cutoffs=[10, 5]"}, "a cluster from 10 to 5 is to have two symbols or more");
  refused({"model.cutoffs=[10, 31]"},
          "the last cluster begins at symbol 31 and needs two, and the vocabulary has 32");
  refused({"model.cutoffs=[10, 400]"}, "the last cluster begins at symbol 400");
  refused({"model.experts=2"}, "model.output = \"adaptive\" is one softmax");
  refused({"model.hidden=8"}, "leaves none to the vectors of cluster 2");
  refused({"model.tied=true", "model.embedding=16"}, "set model.tied = false");
  refused({"data.max_size=4"}, "it has only 4 symbols: set model.output = \"softmax\"");
}

}  // namespace
}  // namespace rondo
