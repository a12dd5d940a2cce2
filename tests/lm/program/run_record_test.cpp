// What `lm table` knows of a run: its log and its measurements, of finished, stopped, imported and older
// runs.
#include "lm/report/run_record.h"

#include <filesystem>
#include <sstream>

#include "tests/lm/program/table_test.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

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
  expect_contains(output_of_lm({"table", stopped}), "0.34 of 2  unfinished  ");
  expect_contains(output_of_lm({"table", stopped, "--csv"}), "0.33557046979865773,unfinished,");

  // No evaluation yet, and no log: dashes.
  for (const std::string& start : {log.substr(0, log.find('\n') + 1), std::string()}) {
    const std::string run = with_log(words(), start);
    row = json_of({run})[0];
    EXPECT_EQ(row.at("finished"), false);
    EXPECT_TRUE(row.at("valid").at("nats").is_null());
    EXPECT_TRUE(row.at("training_seconds").is_null());
    EXPECT_GT(row.at("parameters"), 0);
    const auto cells = cells_of(output_of_lm({"table", "--markdown", run}));
    const std::vector<std::string> expected{"`small (copy)`", cells[2][1], "unfinished"};
    EXPECT_EQ(cells[2], expected) << "no published figure beside it";
    EXPECT_FALSE(row.at("valid").contains("published"));
    expect_contains(run_lm({"table", run}).err, "the run is unfinished");
  }
}

TEST_F(TableTest, CountsTheStepsOfARunThatWasStopped) {
  SmallData other;
  other.trained("run", {"--steps", "5", "--set", "train.eval_every=2"});
  const std::string run = other.path("run");
  expect_contains(output_of_lm({"table", run}), "(5 steps)");
  const std::string log = bytes_of_file(fs::path(run) / "log.jsonl");
  const std::size_t second = log.find("\"evaluation\"", log.find("\"evaluation\"") + 1);
  write_bytes(fs::path(run) / "log.jsonl", log.substr(0, log.find('\n', second) + 1));
  fs::remove(fs::path(run) / "state.safetensors");
  expect_contains(output_of_lm({"table", run}), "(4 of 5 steps)");
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
  EXPECT_EQ(exact.at("unknowns"), 0);
  int steps = 0;
  for (const Json& entry : log_of(run)) steps = std::max(steps, entry.value("step", 0));
  EXPECT_EQ(row().at("steps"), steps);
  const std::string first = bytes_of_file(other / "run/evaluations.jsonl");
  EXPECT_EQ(Json::parse(first.substr(0, first.find('\n'))).at("time").get<std::string>().size(),
            std::string("2026-11-26T02:48:07Z").size());
  EXPECT_NE(eval({"--streams", "4"}).at("nats"), exact.at("nats"));
  EXPECT_EQ(row().at("test"), exact) << "what is read as published goes before";
  const Json dynamic = eval({"--dynamic"});
  const Json others = eval({"--dynamic", "--cache"});
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
                                       "test reading",
                                       "test dynamic published",
                                       "test dynamic perplexity",
                                       "test dynamic+cache perplexity",
                                       "valid nats"};
  EXPECT_EQ(std::vector(cells[0].begin(), cells[0].begin() + 11), begin);
  EXPECT_EQ(cells[2][7], "3.5 perplexity");

  eval({"--text", other.path("data/test.txt"), "--cache"});
  EXPECT_TRUE(row().at("test_cache").at("nats").is_null()) << "a file of the user's";
  eval({"--cache", "--set", "cache.lambda=1", "--set", "cache.window=1"});
  EXPECT_TRUE(row().at("test_cache").at("nats").is_null()) << "infinite";
  // A text that has changed since is not the run's.
  const std::string text = bytes_of_file(other / "data/test.txt");
  write_bytes(other / "data/test.txt", "the cat sat\n");
  eval({"--cache"});
  eval({});
  EXPECT_TRUE(row().at("test_cache").at("nats").is_null());
  EXPECT_EQ(row().at("test"), exact);
  write_bytes(other / "data/test.txt", text);

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

TEST_F(TableTest, LogsOfVersion02HaveNoTrainingTime) {
  std::string log = bytes_of_file(fs::path(words()) / "log.jsonl");
  for (std::size_t at; (at = log.find("\"training_seconds\"")) != std::string::npos;)
    log.erase(at, log.find(',', at) + 1 - at);
  const std::string run = with_log(words(), log);
  EXPECT_TRUE(json_of({run})[0].at("training_seconds").is_null());
  EXPECT_EQ(output_of_lm({"table", "--markdown", run}).find("training time"), std::string::npos);
}

// Killed in the middle of a line; --resume goes on from there.
TEST_F(TableTest, ALineThatIsNotFinishedIsNotRead) {
  const std::string log = bytes_of_file(fs::path(words()) / "log.jsonl");
  const Json whole = json_of({with_log(words(), log)})[0].at("test");
  EXPECT_EQ(json_of({with_log(words(), log + "{\"step\":1")})[0].at("test"), whole);
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

}  // namespace
}  // namespace rondo
