// `lm table` on runs as `lm train` leaves them: JSON, Markdown, text; what it refuses.
#include "tests/lm/program/table_test.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "lm/program/terminal.h"
#include "lm/report/run_table.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_F(TableTest, JsonHasWhatTheRunsMeasured) {
  const Json runs = json_of({letters(), words()});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].at("run"), letters()) << "in the order given";
  const Json& row = runs[1];
  Json valid, test;
  double seconds = 0;
  for (const Json& entry : log_of(words())) {
    if (!entry.contains("split")) continue;
    if (entry.at("split") == "test") {
      test = entry;
    } else {
      valid = entry;  // the last is that of the best model
      if (!entry.contains("epoch")) continue;
      EXPECT_GT(entry.at("training_seconds"), seconds) << "it adds up";
      seconds = entry.at("training_seconds");
    }
  }
  for (const char* key : {"nats", "bits", "perplexity", "symbols", "read"}) {
    EXPECT_EQ(row.at("valid").at(key), valid.at(key)) << key;
    EXPECT_EQ(row.at("test").at(key), test.at(key)) << key;
  }
  EXPECT_EQ(row.at("training_seconds"), seconds);
  EXPECT_EQ(row.at("recipe"), "small");
  EXPECT_EQ(row.at("published"), (Json{{"valid", 5.5}, {"test", 4.25}, {"unit", "perplexity"}}));
  EXPECT_EQ(row.at("epochs"), 2);
  EXPECT_EQ(row.at("epochs_planned"), 2);
  EXPECT_EQ(row.at("finished"), true);
  const Json info = Json::parse(output_of_lm({"info", words(), "--json"}));
  EXPECT_EQ(row.at("parameters"), info.at("parameters"));
  EXPECT_EQ(row.at("vocabulary_size"), info.at("vocabulary_size"));
  EXPECT_EQ(runs[0].at("published"), (Json{{"valid", nullptr}, {"test", 1.375}, {"unit", "bits"}}));
  // All settings, as in config.toml.
  const Json& settings = row.at("settings");
  EXPECT_EQ(settings.at("train.epochs"), 2);
  EXPECT_EQ(settings.at("data.unit"), "words");
  EXPECT_EQ(runs[0].at("settings").at("data.unit"), "characters");
  EXPECT_TRUE(settings.at("model.hidden").is_array());
  EXPECT_TRUE(settings.at("model.tied").is_boolean());
}

TEST_F(TableTest, MarkdownHasARowForEachRun) {
  const auto rows = cells_of(output_of_lm({"table", "--markdown", letters(), words()}));
  const std::vector<std::string> header{"recipe",          "unit",
                                        "parameters",      "test published",
                                        "test nats",       "test bits",
                                        "test perplexity", "test bits/byte",
                                        "test symbols",    "test reading",
                                        "valid published", "valid nats",
                                        "valid bits",      "valid perplexity",
                                        "valid bits/byte", "valid symbols",
                                        "valid reading",   "epochs",
                                        "training time"};
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], header);
  EXPECT_EQ(rows[2][1], "characters") << "settings that differ are columns";
  for (const auto& row : rows) EXPECT_EQ(row.size(), header.size());
  for (const std::string& cell : rows[1]) EXPECT_TRUE(cell == "---" || cell == "---:") << cell;
  EXPECT_EQ(rows[2][0], "`small (letters)`");
  EXPECT_EQ(rows[2][3], "1.375 bits");
  EXPECT_EQ(rows[2][6], "-") << "no perplexity of characters";
  EXPECT_EQ(rows[2][9], "one stream");
  EXPECT_EQ(rows[2][10], "-") << "not published";
  EXPECT_EQ(rows[3][3], "4.25 perplexity");
  EXPECT_EQ(rows[3][5], "-") << "no bits of words";
  EXPECT_EQ(rows[3][8], "159");
  const Json runs = json_of({letters(), words()});
  EXPECT_NEAR(std::stod(rows[2][5]), runs[0].at("test").at("bits"), 5e-5);
  EXPECT_NEAR(std::stod(rows[3][4]), runs[1].at("test").at("nats"), 5e-5);
  EXPECT_NEAR(std::stod(rows[3][13]), runs[1].at("valid").at("perplexity"), 5e-3);
  EXPECT_EQ(rows[3][17], "2");
}

// Figures per symbol of words and of characters cannot be compared, bits per byte of one text can.
TEST_F(TableTest, HasBitsPerByteWhereUnitsDiffer) {
  const std::vector<std::string> both{letters(), words()};
  std::vector<double> measured;
  for (const std::string& run : both)
    measured.push_back(json_of_lm({"eval", run, "--split", "test"}).at("bits_per_byte"));
  const auto rows = cells_of(output_of_lm({"table", "--markdown", letters(), words()}));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(json_of(both)[i].at("test").at("bits_per_byte"), measured[i]);
    EXPECT_NEAR(std::stod(rows[2 + i][7]), measured[i], 5e-5);
  }
  EXPECT_EQ(rows[2][7], rows[2][5]) << "bits per character of ASCII";
  EXPECT_EQ(output_of_lm({"table", words(), words()}).find("bits/byte"), std::string::npos);
}

TEST_F(TableTest, TextStandsInColumns) {
  std::istringstream text(output_of_lm({"table", words(), letters()}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_GE(lines.size(), 6u);
  EXPECT_TRUE(lines[0].starts_with("in all rows: test reading: one stream; valid reading: one stream"));
  EXPECT_EQ(lines[1], "");
  for (const char* name : {"recipe", "parameters", "published", "bits"}) expect_contains(lines[3], name);
  EXPECT_TRUE(lines[4].starts_with("small (words)    "));
  EXPECT_TRUE(lines[5].starts_with("small (letters)  "));
  // Numbers end where the header ends.
  const std::size_t end = lines[3].find("parameters") + 10;
  for (int row : {4, 5}) {
    EXPECT_TRUE(std::isdigit(lines[row].at(end - 1))) << lines[row];
    EXPECT_EQ(lines[row].at(end), ' ') << lines[row];
  }
  for (const std::string& line : lines) EXPECT_LE(columns_of(line), 120) << line;
  // Bits are for characters only, so words alone have no such column.
  EXPECT_EQ(output_of_lm({"table", words()}).find("bits"), std::string::npos);
}

TEST_F(TableTest, ABrokenFolderCostsItsRowAlone) {
  const Result outcome = run_lm({"table", "--json", data->path("absent"), words()});
  EXPECT_EQ(outcome.status, 2);
  expect_contains(outcome.err, "no run at");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_EQ(Json::parse(outcome.out).at("runs").size(), 1u);
}

TEST_F(TableTest, Refusals) {
  expect_refused(run_lm({"table", data->path("absent")}), "no run at");
  expect_refused(run_lm({"table", data->path("data")}), "holds no config.toml");
  const std::string good = "{\"step\":1,\"epoch\":1}\n";
  for (const std::string bad :
       {"{\"step\":2,", "[]", "3", "", "{}", "{\"split\":\"valid\",\"nats\":1}",
        "{\"split\":\"exam\",\"nats\":1,\"bits\":1,\"perplexity\":1,\"symbols\":1,\"best\":true,\"epoch\":1}",
        "{\"split\":\"test\",\"nats\":\"one\",\"bits\":1,\"perplexity\":1,\"symbols\":1}"})
    expect_refused(run_lm({"table", with_log(words(), good + bad + "\n")}), "log.jsonl:2: ");
  const std::string copy = with_log(words(), good);
  fs::remove(fs::path(copy) / "vocab.txt");
  expect_refused(run_lm({"table", copy}), "vocab.txt");
}

}  // namespace
}  // namespace rondo
