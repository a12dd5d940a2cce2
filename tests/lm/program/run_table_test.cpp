// Which runs share a row of `lm table`, and its columns.
#include "lm/report/run_table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "tests/lm/program/table_test.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

TEST_F(TableTest, RunsThatDifferInTheirSeedAreOneLine) {
  SmallData other;
  const std::vector<std::string> names{"a", "b", "c"};
  std::vector<std::string> words{"table", "--markdown"};
  std::vector<double> nats;
  for (std::size_t i = 0; i < 3; ++i) {
    other.trained(names[i], {"--epochs", "1", "--seed", std::to_string(i < 2 ? i + 1 : 1), "--set",
                             i < 2 ? "model.dropout=0" : "model.dropout=0.5", "--set",
                             i == 1 ? "train.probe_every=1" : "train.probe_every=0"});  // changes no figure
    words.push_back(other.path(names[i]));
    nats.push_back(json_of({other.path(names[i])})[0].at("test").at("nats"));
  }
  const auto rows = cells_of(output_of_lm(words));
  ASSERT_EQ(rows.size(), 4u) << "another dropout is another line";
  EXPECT_EQ(rows[0][1], "dropout");
  EXPECT_EQ(rows[0][2], "runs");
  EXPECT_EQ(rows[2][0], "`small`");
  EXPECT_EQ(rows[2][2], "2");
  const double mean = (nats[0] + nats[1]) / 2, deviation = std::abs(nats[0] - nats[1]) / std::sqrt(2.0);
  EXPECT_EQ(rows[2][4], fmt::format("{:.4f} ± {:.4f}", mean, deviation));
  EXPECT_EQ(rows[3][2], "1");
  EXPECT_EQ(rows[3][4], fmt::format("{:.4f}", nats[2]));

  const Json group = Json::parse(output_of_lm({"table", "--json", words[2], words[3]})).at("groups").at(0);
  EXPECT_EQ(group.at("seeds"), Json({1, 2}));
  EXPECT_EQ(group.at("test").at("nats").at("n"), 2);
  EXPECT_NEAR(group.at("test").at("nats").at("mean"), mean, 1e-12);
  EXPECT_NEAR(group.at("test").at("nats").at("deviation"), deviation, 1e-12);
  const Json alone = Json::parse(output_of_lm({"table", "--json", words[2], words[4]})).at("groups").at(0);
  EXPECT_EQ(alone.at("settings").at("model.dropout"), 0) << "a number";
  EXPECT_EQ(alone.at("test").at("nats").at("deviation"), nullptr) << "of one run";

  // A seed counts once, and figures of different settings have no mean.
  const auto twice = cells_of(output_of_lm({"table", "--markdown", words[2], words[2]}));
  EXPECT_EQ(twice.size(), 4u);
  EXPECT_EQ(twice[2], twice[3]);
  output_of_lm({"eval", words[2], "--split", "test", "--cache"});
  output_of_lm({"eval", words[3], "--split", "test", "--cache", "--set", "cache.lambda=0.5"});
  const auto mixed = cells_of(output_of_lm({"table", "--markdown", words[2], words[3]}));
  const auto column = std::find(mixed[0].begin(), mixed[0].end(), "test cache perplexity") - mixed[0].begin();
  EXPECT_EQ(column, std::ssize(mixed[0])) << "there is nothing in it";
}

TEST_F(TableTest, WarnsThatVocabulariesDiffer) {
  SmallData other;
  other.trained("words", {"--epochs", "1", "--set", "data.unit=words"});
  other.trained("characters", {"--epochs", "1", "--set", "data.unit=characters"});
  const std::string words = other.path("words");
  expect_contains(run_lm({"table", words, other.path("characters")}).err,
                  "runs of one text have vocabularies of");
  EXPECT_EQ(run_lm({"table", words, words}).err.find("vocabularies"), std::string::npos);
}

TEST_F(TableTest, RunsOnSeveralTextsSayOnWhich) {
  SmallData other;
  write_bytes(other / "data/train.txt", other.text(200));
  other.trained("run", {"--epochs", "1"});
  EXPECT_EQ(output_of_lm({"table", words(), letters()}).find("text"), std::string::npos) << "one text";
  const auto rows = cells_of(output_of_lm({"table", "--markdown", words(), letters(), other.path("run")}));
  EXPECT_EQ(rows[0][1], "text");
  EXPECT_EQ(rows[2][1], rows[3][1]);
  EXPECT_NE(rows[3][1], rows[4][1]) << "folders of one name";
  std::string digests;
  for (const char* split : {"train.txt", "valid.txt", "test.txt"})
    digests += (digests.empty() ? "" : "\n") + sha256_hex(bytes_of_file(other / "data" / split));
  EXPECT_EQ(rows[4][1], "data " + sha256_hex(digests).substr(0, 8));
  EXPECT_EQ(json_of({other.path("run")})[0].at("text"), rows[4][1]);
}

TEST_F(TableTest, GroupsBySettingsSortsAndWritesCsv) {
  data->trained("narrow-1", {"--epochs", "1", "--set", "model.hidden=4"});
  data->trained("narrow-2", {"--epochs", "1", "--set", "model.hidden=4", "--seed", "2"});
  data->trained("wide", {"--epochs", "1", "--set", "model.hidden=10"});
  const auto table = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"table", data->path("wide"), data->path("narrow-1"),
                                   data->path("narrow-2")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto cells_of_csv = [&](const std::vector<std::string>& more) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(output_of_lm(table(more)));
    for (std::string line, cell; std::getline(lines, line);) {
      std::istringstream cells(line);
      for (rows.emplace_back(); std::getline(cells, cell, ',');) rows.back().push_back(cell);
    }
    return rows;
  };
  const auto csv = cells_of_csv({"--csv"});
  ASSERT_EQ(csv.size(), 3u) << "runs that differ in the seed share a row";
  EXPECT_EQ(csv[0].at(1), "hidden") << "a setting that differs is a column";
  EXPECT_EQ(csv[1].at(1), "10");
  EXPECT_EQ(csv[2].at(1), "4");
  EXPECT_EQ(csv[0].at(5), "test nats deviation");
  EXPECT_EQ(csv[1].at(5), "") << "of one run";
  EXPECT_GT(std::stod(csv[2].at(5)), 0);
  for (const std::string& name : csv[0]) {
    EXPECT_FALSE(name == "training time deviation" || name == "test symbols deviation") << name;
  }
  for (std::size_t i = 0; i < csv[0].size(); ++i) {
    EXPECT_EQ(std::count(csv[0].begin(), csv[0].end(), csv[0][i]), 1) << csv[0][i];
    const bool is_text = csv[0][i] == "recipe" || csv[0][i].ends_with("reading");
    for (const auto& row : {csv[1], csv[2]}) {
      std::size_t end = 0;
      if (!is_text && !row.at(i).empty()) std::stod(row[i], &end);
      EXPECT_TRUE(is_text || end == row[i].size()) << csv[0][i] << ": " << row[i];
    }
  }
  // Beside a mean is the number of runs that have the figure.
  output_of_lm({"eval", data->path("narrow-1"), "--split", "test", "--cache"});
  output_of_lm({"eval", data->path("wide"), "--split", "test", "--cache"});
  const auto lacking = cells_of_csv({"--csv", "--group-by", "model.layers"});
  const auto number = std::find(lacking[0].begin(), lacking[0].end(), "test cache perplexity n");
  ASSERT_NE(number, lacking[0].end());
  EXPECT_EQ(lacking[1].at(static_cast<std::size_t>(number - lacking[0].begin())), "2");

  const auto by_epochs = cells_of_csv({"--csv", "--group-by", "train.epochs"});
  EXPECT_EQ(by_epochs[0].at(1), "train.epochs") << "beside the epochs that were trained";
  EXPECT_EQ(cells_of_csv({"--csv", "--sort", "hidden"})[1].at(1), "4");

  const Json json = json_of_lm(table({"--group-by", "model.layers"}));
  ASSERT_EQ(json.at("groups").size(), 1u);
  const Json& group = json.at("groups")[0];
  EXPECT_EQ(group.at("settings").size(), 1u);
  double sum = 0;
  for (const Json& run : json.at("runs")) {
    sum += run.at("valid").at("nats").get<double>();
    EXPECT_EQ(run.at("cell"), "lstm");
  }
  EXPECT_EQ(group.at("valid").at("nats").at("n"), 3);
  EXPECT_NEAR(group.at("valid").at("nats").at("mean").get<double>(), sum / 3, 1e-9);

  expect_refused(run_lm(table({"--group-by", "model.hiden"})), "did you mean 'model.hidden'?");
  // Two folders of the same name are told apart by their paths; what holds for several runs is said once.
  fs::create_directories(data->path("other"));
  fs::copy(data->path("wide"), data->path("other/wide"), fs::copy_options::recursive);
  const Result twice = run_lm({"table", data->path("wide"), data->path("other/wide"), "--csv"});
  expect_contains(twice.out, "(" + data->path("other/wide") + ")");
  const Result unsorted = run_lm(table({"--sort", "nothing"}));
  EXPECT_EQ(unsorted.status, 2);
  expect_contains(unsorted.err, "--sort nothing: no such column; there are: recipe, hidden");
}

}  // namespace
}  // namespace rondo
