// `lm table` on runs as `lm train` leaves them, and on folders with a log written here.
#include "lm/program/table.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A run on words, and one on characters that a paper reports in bits.
class TableTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data = new SmallData;
    data->trained("words", {"--epochs", "2", "--set", "published.valid=5.5", "--set", "published.test=4.25"});
    data->trained("letters", {"--epochs", "1", "--set", "data.unit=characters", "--set",
                              "published.test=1.375", "--set", "published.unit=bits"});
  }
  static void TearDownTestSuite() { delete data; }

  static std::string words() { return data->path("words"); }
  static std::string letters() { return data->path("letters"); }
  static std::vector<Json> log_of(const std::string& run) {
    std::istringstream lines(bytes_of_file(fs::path(run) / "log.jsonl"));
    std::vector<Json> entries;
    for (std::string line; std::getline(lines, line);) entries.push_back(Json::parse(line));
    return entries;
  }
  static Json json_of(const std::vector<std::string>& runs) {
    std::vector<std::string> all{"table", "--json"};
    all.insert(all.end(), runs.begin(), runs.end());
    return Json::parse(output_of_lm(all)).at("runs");  // of all of stdout: nothing else may be there
  }
  /// A copy of a run with another log; empty: with none.
  static std::string with_log(const std::string& run, const std::string& log) {
    const fs::path copy = *data / "copy";
    fs::remove_all(copy);
    fs::copy(run, copy);
    fs::remove(copy / "log.jsonl");
    fs::remove(copy / "evaluations.jsonl");
    if (!log.empty()) write_bytes(copy / "log.jsonl", log);
    return copy;
  }
  /// The cells of a Markdown table, a row a line.
  static std::vector<std::vector<std::string>> cells_of(const std::string& markdown) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(markdown);
    for (std::string line, cell; std::getline(lines, line);) {
      EXPECT_TRUE(line.starts_with('|') && line.ends_with('|')) << line;
      std::istringstream cells(line.substr(1));
      for (rows.emplace_back(); std::getline(cells, cell, '|');) {
        const std::size_t begin = cell.find_first_not_of(' ');
        rows.back().push_back(cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
      }
    }
    return rows;
  }

  static SmallData* data;
};
SmallData* TableTest::data = nullptr;

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
}

TEST_F(TableTest, MarkdownHasARowForEachRun) {
  const auto rows = cells_of(output_of_lm({"table", "--markdown", letters(), words()}));
  const std::vector<std::string> header{
      "recipe",           "unit",          "parameters",    "test published",  "test nats",    "test bits",
      "test perplexity",  "test symbols",  "test read in",  "valid published", "valid nats",   "valid bits",
      "valid perplexity", "valid symbols", "valid read in", "epochs",          "training time"};
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], header);
  EXPECT_EQ(rows[2][1], "characters") << "settings that differ are columns";
  for (const auto& row : rows) EXPECT_EQ(row.size(), header.size());
  for (const std::string& cell : rows[1]) EXPECT_TRUE(cell == "---" || cell == "---:") << cell;
  EXPECT_EQ(rows[2][0], "`small (letters)`");
  EXPECT_EQ(rows[2][3], "1.375 bits");
  EXPECT_EQ(rows[2][6], "-") << "no perplexity of characters";
  EXPECT_EQ(rows[2][8], "one stream");
  EXPECT_EQ(rows[2][9], "-") << "not published";
  EXPECT_EQ(rows[3][3], "4.25 perplexity");
  EXPECT_EQ(rows[3][5], "-") << "no bits of words";
  EXPECT_EQ(rows[3][7], "159");
  const Json runs = json_of({letters(), words()});
  EXPECT_NEAR(std::stod(rows[2][5]), runs[0].at("test").at("bits"), 5e-5);
  EXPECT_NEAR(std::stod(rows[3][4]), runs[1].at("test").at("nats"), 5e-5);
  EXPECT_NEAR(std::stod(rows[3][12]), runs[1].at("valid").at("perplexity"), 5e-3);
  EXPECT_EQ(rows[3][15], "2");
}

TEST_F(TableTest, TextStandsInColumns) {
  std::istringstream text(output_of_lm({"table", words(), letters()}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4u);
  for (const char* name : {"recipe", "parameters", "published", "nats", "symbols", "epochs", "time"})
    expect_contains(lines[1], name);
  EXPECT_TRUE(lines[2].starts_with("small (words)    "));
  EXPECT_TRUE(lines[3].starts_with("small (letters)  "));
  // Numbers end where the header ends.
  const std::size_t end = lines[1].find("parameters") + 10;
  for (int row : {2, 3}) {
    EXPECT_TRUE(std::isdigit(lines[row].at(end - 1))) << lines[row];
    EXPECT_EQ(lines[row].at(end), ' ') << lines[row];
  }
  // Bits are for characters only, so words alone have no such column.
  EXPECT_EQ(output_of_lm({"table", words()}).find("bits"), std::string::npos);
}

TEST_F(TableTest, SaysWhatIsUnfinished) {
  const std::string log = bytes_of_file(fs::path(words()) / "log.jsonl");
  const std::string first = log.substr(0, log.find("\"split\""));
  // Up to the line of the first evaluation, as when it was stopped there; the state is that of a finished
  // run.
  const std::string stopped = with_log(words(), log.substr(0, log.find('\n', first.size()) + 1));
  fs::remove(fs::path(stopped) / "state.safetensors");
  Json row = json_of({stopped})[0];
  EXPECT_EQ(row.at("finished"), false);
  EXPECT_EQ(row.at("epochs"), 1);
  EXPECT_TRUE(row.at("valid").at("nats").is_number());
  EXPECT_TRUE(row.at("test").at("nats").is_null());
  expect_contains(output_of_lm({"table", stopped}), "1 of 2  unfinished  ");
  expect_contains(output_of_lm({"table", stopped, "--csv"}), ",1,2,unfinished,");

  // No evaluation yet, and no log: dashes.
  for (const std::string& start : {log.substr(0, log.find('\n') + 1), std::string()}) {
    const std::string run = with_log(words(), start);
    row = json_of({run})[0];
    EXPECT_EQ(row.at("finished"), false);
    EXPECT_TRUE(row.at("valid").at("nats").is_null());
    EXPECT_TRUE(row.at("training_seconds").is_null());
    EXPECT_GT(row.at("parameters"), 0);
    const auto cells = cells_of(output_of_lm({"table", "--markdown", run}));
    const std::vector<std::string> expected{
        "`small (copy)`", cells[2][1], "4.25 perplexity", "-", "-", "5.5 perplexity", "-", "-", "-",
        "unfinished",     "-"};
    EXPECT_EQ(cells[2], expected);
  }
}

TEST_F(TableTest, HasWhatEvalMeasured) {
  SmallData other;
  other.trained("run", {"--epochs", "1", "--set", "published.dynamic_test=3.5", "--set",
                        "published.test=3.25", "--set", "published.cache_test=3"});
  const std::string run = other.path("run");
  const auto eval = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"eval", run, "--json"};
    if (more.empty() || more[0] != "--text") words.insert(words.end(), {"--split", "test"});
    words.insert(words.end(), more.begin(), more.end());
    return Json::parse(output_of_lm(words));
  };
  const auto row = [&] { return json_of({run})[0]; };
  const Json exact = row().at("test");
  EXPECT_EQ(exact.at("read"), "one stream");
  EXPECT_NE(eval({"--streams", "4"}).at("nats"), exact.at("nats"));
  EXPECT_EQ(row().at("test"), exact) << "what is read as published goes before";
  const Json dynamic = eval({"--dynamic"});
  eval({"--dynamic", "--cache"});
  const Json both = eval({"--dynamic", "--cache", "--set", "cache.theta=0.5"});
  EXPECT_EQ(row().at("test_both").at("cache").at("theta"), 0.5);
  for (const char* key : {"nats", "bits", "perplexity", "symbols"}) {
    EXPECT_EQ(row().at("test_dynamic").at(key), dynamic.at(key)) << key;
    EXPECT_EQ(row().at("test_both").at(key), both.at(key)) << "the last of its kind: " << key;
  }
  EXPECT_TRUE(row().at("test_cache").at("nats").is_null());
  const auto cells = cells_of(output_of_lm({"table", "--markdown", run}));
  const std::vector<std::string> begin{"recipe",
                                       "parameters",
                                       "test published",
                                       "test nats",
                                       "test perplexity",
                                       "test symbols",
                                       "test read in",
                                       "test dynamic published",
                                       "test dynamic perplexity",
                                       "test both perplexity",
                                       "valid nats"};
  EXPECT_EQ(std::vector(cells[0].begin(), cells[0].begin() + 11), begin);
  EXPECT_EQ(cells[2][7], "3.5 perplexity");

  eval({"--text", other.path("data/test.txt"), "--cache"});
  EXPECT_TRUE(row().at("test_cache").at("nats").is_null()) << "a file of the user's";
  eval({"--cache", "--set", "cache.lambda=1", "--set", "cache.window=1"});
  EXPECT_TRUE(row().at("test_cache").at("nats").is_null()) << "infinite";
  // Another text is not the run's.
  fs::create_directory(other / "moved");
  for (const char* file : {"train.txt", "valid.txt"}) fs::copy(other / "data" / file, other / "moved" / file);
  write_bytes(other / "moved/test.txt", "the cat sat\n");
  eval({"--data", other.path("moved"), "--cache"});
  eval({"--data", other.path("moved")});
  EXPECT_TRUE(row().at("test_cache").at("nats").is_null());
  EXPECT_EQ(row().at("test"), exact);

  // What was measured of a model that the run has no more is left out; what is left is the log's.
  std::string model = bytes_of_file(other / "run/model.safetensors");
  model.back() ^= 1;
  write_bytes(other / "run/model.safetensors", model);
  EXPECT_TRUE(row().at("test_dynamic").at("nats").is_null());
  const std::string kept = bytes_of_file(other / "run/evaluations.jsonl");
  write_bytes(other / "run/evaluations.jsonl", kept + "{}\n");
  expect_refused(run_lm({"table", run}), "evaluations.jsonl:11: not a line that `lm eval` keeps");
  nlohmann::json line = nlohmann::json::parse(kept.substr(0, kept.find('\n')));
  line["symbols"] = 1e300;
  write_bytes(other / "run/evaluations.jsonl", line.dump() + "\n");
  expect_refused(
      run_lm({"table", run}),
      "evaluations.jsonl:1: not a line that `lm eval` keeps (symbols must be a whole number below 2^63)");
  fs::remove(other / "run/evaluations.jsonl");
  write_bytes(other / "run/log.jsonl",
              R"({"epoch":1e300,"split":"valid","nats":1,"bits":1,"perplexity":1,"symbols":1,"best":true})"
              "\n");
  expect_refused(run_lm({"table", run}),
                 "log.jsonl:1: not a line that `lm train` writes into its log (epoch must");
}

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

  // A seed counts once, and figures of different settings have no mean.
  const auto twice = cells_of(output_of_lm({"table", "--markdown", words[2], words[2]}));
  EXPECT_EQ(twice.size(), 4u);
  EXPECT_EQ(twice[2], twice[3]);
  output_of_lm({"eval", words[2], "--split", "test", "--cache"});
  output_of_lm({"eval", words[3], "--split", "test", "--cache", "--set", "cache.lambda=0.5"});
  const auto mixed = cells_of(output_of_lm({"table", "--markdown", words[2], words[3]}));
  const auto column = std::find(mixed[0].begin(), mixed[0].end(), "test cache perplexity") - mixed[0].begin();
  EXPECT_EQ(mixed[2].at(static_cast<std::size_t>(column)), "several settings");
}

TEST_F(TableTest, PublishedFiguresStandBesideTheModelOfTheRecipeAlone) {
  SmallData other;
  const auto table = [&](const std::string& run, const std::string& setting) {
    output_of_lm({"train", "--recipe", "zaremba-small", "--data", other.path("data"), "--out",
                  other.path(run), "--epochs", "1", "--threads", "1", "--set", "published.vocabulary=0",
                  "--set", "published.test_symbols=0", "--set", setting});
    return run_lm({"table", "--markdown", other.path(run)});
  };
  expect_contains(table("same", "model.dropout=0.1").out, "114.5 perplexity");
  const Result changed = table("changed", "model.hidden=20");
  EXPECT_EQ(changed.out.find("114.5"), std::string::npos);
  expect_contains(changed.err, "settings of the model are not those of the recipe zaremba-small");
}

TEST_F(TableTest, PublishedFiguresStandBesideTheSameTextAndKindAlone) {
  SmallData other;
  other.trained("base",
                {"--epochs", "1", "--set", "published.cache_test=3", "--set", "published.finetuned_test=4",
                 "--set", "published.test=4.25", "--set", "published.unit=bits"});
  const std::string config = bytes_of_file(other / "base/config.toml");
  const auto published_beside = [&](const std::string& key, const std::string& number) {
    std::string changed = config;
    const std::string line = "\n" + key + " = ";
    changed.replace(changed.find(line + "0"), line.size() + 1, line + number);
    write_bytes(other / "base/config.toml", changed);
    const Result outcome = run_lm({"table", "--markdown", other.path("base")});
    const Json eval = Json::parse(output_of_lm({"eval", other.path("base"), "--split", "test", "--json"}));
    write_bytes(other / "base/config.toml", config);
    const bool beside = outcome.out.find("4.25 bits") != std::string::npos;
    EXPECT_EQ(eval.contains("published"), beside);
    EXPECT_FALSE(
        Json::parse(output_of_lm({"eval", other.path("base"), "--split", "test", "--streams", "2", "--json"}))
            .contains("published"))
        << "read in another way";
    EXPECT_EQ(outcome.err.find("are left out") != std::string::npos, !beside);
    return beside;
  };
  EXPECT_TRUE(published_beside("test_symbols", "0")) << "not known";
  EXPECT_TRUE(published_beside("test_symbols", "160"));
  EXPECT_FALSE(published_beside("test_symbols", "170"));
  EXPECT_FALSE(published_beside("vocabulary", "41"));
  // Figures of models that adapt are those of the finetuned one, where the paper has it.
  const auto eval = [&](const std::string& run) {
    return Json::parse(output_of_lm({"eval", other.path(run), "--split", "test", "--cache", "--json"}));
  };
  EXPECT_FALSE(eval("base").contains("published"));
  output_of_lm({"finetune", other.path("base"), "--out", other.path("finetuned"), "--set",
                "finetune.learning_rate=0.1", "--epochs", "1"});
  EXPECT_EQ(eval("finetuned").at("published"), (Json{{"figure", 3}, {"unit", "bits"}}));
  const auto rows =
      cells_of(output_of_lm({"table", "--markdown", other.path("base"), other.path("finetuned")}));
  EXPECT_EQ(rows[2][2], "4.25 bits");
  EXPECT_EQ(rows[3][2], "4 bits");
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

TEST_F(TableTest, AnImportedRunHasNoEpochs) {
  output_of_lm({"export", words(), "--out", data->path("exported")});
  output_of_lm({"import", data->path("exported/model.safetensors"), "--recipe", data->path("small.toml"),
                "--vocab", data->path("exported/vocab.txt"), "--out", data->path("imported")});
  const auto rows = cells_of(output_of_lm({"table", "--markdown", data->path("imported"), words()}));
  const std::size_t last = rows[0].size() - 1;
  const std::vector<std::string> names{"epochs", "state", "training time"}, cells{"-", "imported", "-"};
  EXPECT_EQ(std::vector(rows[0].begin() + static_cast<std::ptrdiff_t>(last) - 2, rows[0].end()), names);
  EXPECT_EQ(std::vector(rows[2].begin() + static_cast<std::ptrdiff_t>(last) - 2, rows[2].end()), cells);
  EXPECT_EQ(rows[3][last - 1], "finished");
  const Json row = json_of({data->path("imported")})[0];
  EXPECT_EQ(row.at("imported"), true);
  EXPECT_TRUE(row.at("text").is_null());
}

TEST_F(TableTest, KnowsTheEndOfARunWithoutTestText) {
  SmallData other;
  fs::remove(other / "data/test.txt");
  other.trained("run", {"--epochs", "1"});
  const Json row = json_of({other.path("run")})[0];
  EXPECT_EQ(row.at("finished"), true);
  EXPECT_TRUE(row.at("test").at("nats").is_null());
}

TEST_F(TableTest, TrainingTimeGoesOnInAResumedRun) {
  SmallData other;
  other.trained("run", {"--epochs", "1"});
  const double first = json_of({other.path("run")})[0].at("training_seconds");
  output_of_lm(other.resume("run", {"--epochs", "2"}));
  int seen = 0;
  for (const Json& entry : log_of(other.path("run"))) {
    if (!entry.contains("training_seconds") || entry.at("epoch") != 2) continue;
    EXPECT_GT(entry.at("training_seconds"), first);
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

TEST_F(TableTest, OlderLogsHaveNoTrainingTime) {
  std::string log = bytes_of_file(fs::path(words()) / "log.jsonl");
  for (std::size_t at; (at = log.find("\"training_seconds\"")) != std::string::npos;)
    log.erase(at, log.find(',', at) + 1 - at);
  const std::string run = with_log(words(), log);
  EXPECT_TRUE(json_of({run})[0].at("training_seconds").is_null());
  EXPECT_EQ(cells_of(output_of_lm({"table", "--markdown", run}))[2].back(), "-");
}

TEST_F(TableTest, ABrokenFolderCostsItsRowAlone) {
  const Result outcome = run_lm({"table", "--json", data->path("absent"), words()});
  EXPECT_EQ(outcome.status, 2);
  expect_contains(outcome.err, "no run at");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_EQ(Json::parse(outcome.out).at("runs").size(), 1u);
}

// Killed in the middle of a line; --resume goes on from there.
TEST_F(TableTest, ALineThatIsNotFinishedIsNotRead) {
  const std::string log = bytes_of_file(fs::path(words()) / "log.jsonl");
  EXPECT_EQ(json_of({with_log(words(), log + "{\"step\":1")})[0].at("test"),
            json_of({words()})[0].at("test"));
}

// JSON has null for what is not finite, as the perplexity of a large loss.
TEST_F(TableTest, AFigureThatIsNotFiniteIsADash) {
  std::string log, kept;
  for (Json entry : log_of(words())) {
    if (entry.value("split", "") == "test") entry["nats"] = entry["perplexity"] = nullptr;
    if (entry.value("split", "") == "valid") entry["perplexity"] = nullptr;
    log += entry.dump() + '\n';
  }
  std::istringstream lines(bytes_of_file(fs::path(words()) / "evaluations.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    Json entry = Json::parse(line);
    if (entry.at("split") != "valid") continue;
    entry["perplexity"] = nullptr;
    kept += entry.dump() + '\n';
  }
  ASSERT_NE(kept, "");
  const std::string run = with_log(words(), log);
  for (const bool measured_again : {false, true}) {
    if (measured_again) write_bytes(fs::path(run) / "evaluations.jsonl", kept);
    const Json row = json_of({run})[0], whole = json_of({words()})[0];
    EXPECT_EQ(row.at("finished"), true);
    EXPECT_TRUE(row.at("test").at("nats").is_null());
    EXPECT_EQ(row.at("test").at("bits"), whole.at("test").at("bits"));
    EXPECT_TRUE(row.at("valid").at("perplexity").is_null());
    EXPECT_EQ(row.at("valid").at("nats"), whole.at("valid").at("nats"));
    const auto cells = cells_of(output_of_lm({"table", "--markdown", run, words()}));
    for (std::size_t i = 0; i < cells[0].size(); ++i) {
      const bool is_dash = cells[0][i] == "test nats" || cells[0][i].ends_with(" perplexity");
      EXPECT_EQ(cells[2][i] == "-", is_dash) << cells[0][i];
      EXPECT_NE(cells[3][i], "-") << cells[0][i];
    }
  }
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
  EXPECT_EQ(csv[0].at(6), "test nats n");
  EXPECT_EQ(csv[1].at(5), "") << "of one run";
  EXPECT_GT(std::stod(csv[2].at(5)), 0);
  EXPECT_EQ(csv[1].at(6), "1");
  EXPECT_EQ(csv[2].at(6), "2");
  for (std::size_t i = 0; i < csv[0].size(); ++i) {
    EXPECT_EQ(std::count(csv[0].begin(), csv[0].end(), csv[0][i]), 1) << csv[0][i];
    const bool is_text = csv[0][i] == "recipe" || csv[0][i].ends_with("read in");
    for (const auto& row : {csv[1], csv[2]}) {
      std::size_t end = 0;
      if (!is_text && !row.at(i).empty()) std::stod(row[i], &end);
      EXPECT_TRUE(is_text || end == row[i].size()) << csv[0][i] << ": " << row[i];
    }
  }
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
  const Result unsorted = run_lm(table({"--sort", "nothing"}));
  EXPECT_EQ(unsorted.status, 2);
  expect_contains(unsorted.err, "--sort nothing: no such column; there are: recipe, hidden");
}

}  // namespace
}  // namespace rondo
