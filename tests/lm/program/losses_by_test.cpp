// `lm eval --by`: losses by position and by frequency, as printed, as JSON, and as kept with the run.
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A run that reads each line from the initial state, as `lm score` does.
class LossesByTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data = new SmallData;
    data->trained("run", {"--epochs", "1", "--set", "data.batching=lines"});
    write_bytes(*data / "new.txt", "the cat sat\nthe zebra and the cat\n");
  }
  static void TearDownTestSuite() { delete data; }

  static std::string run() { return data->path("run"); }
  static Json eval(const std::vector<std::string>& more) {
    std::vector<std::string> words{"eval", run(), "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return json_of_lm(words);
  }
  static std::vector<Json> kept() {
    std::istringstream lines(bytes_of_file(*data / "run/evaluations.jsonl"));
    std::vector<Json> entries;
    for (std::string line; std::getline(lines, line);) entries.push_back(Json::parse(line));
    return entries;
  }
  /// EXPECT that the bands have all symbols, and that their weighted mean is the total.
  static void expect_total(const Json& json, const std::string& key) {
    double sum = 0;
    std::int64_t symbols = 0;
    for (const Json& band : json.at(key)) {
      sum += band.at("nats").get<double>() * band.at("symbols").get<double>();
      symbols += band.at("symbols").get<std::int64_t>();
    }
    EXPECT_EQ(symbols, json.at("symbols"));
    const double nats = json.at("nats");
    EXPECT_NEAR(sum / static_cast<double>(symbols), nats, 1e-13 * nats) << key;
  }

  static SmallData* data;
};
SmallData* LossesByTest::data = nullptr;

TEST_F(LossesByTest, AreThoseOfTheSymbols) {
  const Json json = eval({"--split", "test", "--by", "position", "--by", "frequency"});
  expect_total(json, "by_position");
  expect_total(json, "by_frequency");

  // `lm score` has the probability of each symbol; the words of the training text are counted here.
  std::map<std::string, std::int64_t> counts;
  std::istringstream lines(bytes_of_file(*data / "data/train.txt"));
  for (std::string line, word; std::getline(lines, line); ++counts["<eos>"])
    for (std::istringstream words(line); words >> word;) ++counts[word];
  std::map<std::int64_t, std::pair<double, int>> by_position, by_count;
  std::istringstream rows(
      output_of_lm({"score", run(), data->path("data/test.txt"), "--per-symbol", "--threads", "1"}));
  std::string before;
  std::int64_t position = 0;
  for (std::string line, symbol, figure; std::getline(rows, line, '\t'); before = line) {
    std::getline(rows, symbol, '\t'), std::getline(rows, figure);
    position = line == before ? position + 1 : 1;
    for (auto* sum : {&by_position[position], &by_count[counts.at(symbol)]})
      sum->first -= std::stod(figure), ++sum->second;
  }
  for (const auto& [key, expected] :
       {std::pair{"by_position", by_position}, std::pair{"by_frequency", by_count}})
    for (const Json& band : json.at(key)) {
      double sum = 0;
      int symbols = 0;
      for (const auto& [number, of] : expected)
        if (number >= band.at("from") && number <= band.at("to")) sum += of.first, symbols += of.second;
      EXPECT_EQ(band.at("symbols"), symbols) << key << band;
      EXPECT_NEAR(band.at("nats").get<double>(), sum / symbols, 1e-5) << key << band;
    }
}

TEST_F(LossesByTest, AreKeptWithTheRun) {
  std::set<std::string> splits;
  for (const Json& entry : kept()) {
    splits.insert(entry.at("split"));
    expect_total(entry, "by_position");
    expect_total(entry, "by_frequency");
  }
  EXPECT_EQ(splits, (std::set<std::string>{"valid", "test"})) << "by the training";
  EXPECT_FALSE(eval({"--split", "test", "--by", "position"}).contains("by_frequency"));
  const Json json = eval({"--split", "test"});
  EXPECT_FALSE(json.contains("by_position") || json.contains("by_frequency")) << "the usual output is short";
  expect_total(kept().back(), "by_frequency");
}

TEST_F(LossesByTest, OfAnotherText) {
  const std::string text = data->path("new.txt");
  eval({"--text", text});
  EXPECT_TRUE(kept().back().contains("by_position"));
  EXPECT_FALSE(kept().back().contains("by_frequency")) << "the training text was not read";
  const Json json = eval({"--text", text, "--by", "frequency"});
  expect_total(json, "by_frequency");
  EXPECT_EQ(json.at("by_frequency").back(),
            Json({{"unknown", true}, {"symbols", 1}, {"nats", json.at("by_frequency").back().at("nats")}}));
  const std::string out =
      output_of_lm({"eval", run(), "--text", text, "--by", "position", "--by", "frequency"});
  expect_contains(out, "initial state  symbols");
  expect_contains(out, "in the training text");
  expect_contains(out, "<unk>");

  fs::rename(*data / "data", *data / "moved");
  eval({"--text", text, "--by", "position"});
  expect_refused(run_lm({"eval", run(), "--text", text, "--by", "frequency"}), "--data");
  fs::rename(*data / "moved", *data / "data");
  expect_refused(run_lm({"eval", run(), "--by", "length"}), "--by: length not in");
}

TEST_F(LossesByTest, BandsThatNoProgramWroteAreRefused) {
  const fs::path file = *data / "run/evaluations.jsonl";
  const std::string good = bytes_of_file(file);
  for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{
           {"symbols", 0}, {"symbols", 1.5}, {"from", -1}, {"to", 0}, {"nats", "one"}}) {
    Json entry = kept().front();
    entry["by_position"][0][key] = value;
    write_bytes(file, entry.dump() + "\n");
    expect_refused(run_lm({"table", run()}), "evaluations.jsonl:1: ");
  }
  write_bytes(file, good);
}

}  // namespace
}  // namespace rondo
