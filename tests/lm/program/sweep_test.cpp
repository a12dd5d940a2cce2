// `lm sweep` as a user starts it, and the report of what it has trained.
#include "lm/report/sweep.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "tests/data/files/packed.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<std::string> words_of(const SmallData& data, const std::vector<std::string>& more) {
  std::vector<std::string> words{"sweep",
                                 "--recipe",
                                 data.path("small.toml"),
                                 "--data",
                                 data.path("data"),
                                 "--out",
                                 data.path("sweep"),
                                 "--threads",
                                 "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class Sweeps : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data = new SmallData;
    json = new Json(json_of_lm(words_of(
        *data, {"--set", "model.hidden=10,9", "--set", "train.epochs=2", "--seeds", "2", "--jobs", "2"})));
  }
  static void TearDownTestSuite() { delete json, delete data; }
  static std::string run(const std::string& name) { return data->path("sweep/" + name); }
  static std::string bytes(const std::string& name, const char* file) {
    return bytes_of_file(fs::path(run(name)) / file);
  }

  static SmallData* data;
  static Json* json;
};
SmallData* Sweeps::data = nullptr;
Json* Sweeps::json = nullptr;

TEST_F(Sweeps, EachRunHasTheBytesOfLmTrain) {
  const std::string name = "hidden=9_seed=2", config = bytes(name, "config.toml"),
                    model = sha256_hex(bytes(name, "model.safetensors")),
                    vocabulary = bytes(name, "vocab.txt");
  const auto log = log_of(run(name));
  fs::rename(run(name), data->path("swept"));
  output_of_lm({"train", "--recipe", data->path("small.toml"), "--data", data->path("data"), "--out",
                run(name), "--set", "model.hidden=9", "--set", "train.epochs=2", "--set", "train.seed=2",
                "--threads", "1"});
  EXPECT_EQ(bytes(name, "config.toml"), config) << "the command line, too";
  EXPECT_EQ(sha256_hex(bytes(name, "model.safetensors")), model);
  EXPECT_EQ(bytes(name, "vocab.txt"), vocabulary);
  EXPECT_EQ(log_of(run(name)), log);
}

TEST_F(Sweeps, JsonIsThatOfATable) {
  EXPECT_EQ(json_of_lm({"table", data->path("sweep")}).at("groups"), json->at("groups"));
  EXPECT_EQ(json->at("runs").size(), 4u);
  const Json& groups = json->at("groups");
  ASSERT_EQ(groups.size(), 2u);
  for (const Json& group : groups) {
    EXPECT_EQ(group.at("recipe"), "small");
    EXPECT_EQ(group.at("seeds"), (Json{1, 2}));
    for (const char* split : {"valid", "test"}) {
      double figures[2];
      for (int seed = 1; seed <= 2; ++seed) {
        const std::string name =
            fmt::format("hidden={}_seed={}", group.at("settings").at("model.hidden").get<int>(), seed);
        EXPECT_EQ(group.at("runs")[seed - 1], run(name));
        for (const Json& entry : log_of(run(name)))  // the last one of a split is that of the best model
          if (entry.contains("split") && entry.at("split") == split)
            figures[seed - 1] = std::exp(entry.at("nats").get<double>());
      }
      const Json& mean = group.at(split).at("perplexity");
      EXPECT_NEAR(mean.at("mean"), (figures[0] + figures[1]) / 2, 1e-9);
      EXPECT_NEAR(mean.at("deviation"), std::abs(figures[0] - figures[1]) / std::sqrt(2), 1e-9);
      EXPECT_EQ(mean.at("n"), 2);
    }
  }
  const Json& valid = groups[0].at("valid").at("perplexity");
  expect_contains(
      output_of_lm({"table", data->path("sweep")}),
      fmt::format("{:.2f} ± {:.2f}", valid.at("mean").get<double>(), valid.at("deviation").get<double>()));
  expect_contains(output_of_lm({"table", data->path("sweep"), "--markdown"}),
                  "| recipe | hidden | runs | parameters |");
}

TEST_F(Sweeps, AreAmongOtherRunsOfATable) {
  data->trained("other", {"--set", "train.epochs=1"});
  const Json runs = json_of_lm({"table", data->path("other"), data->path("sweep")}).at("runs");
  ASSERT_EQ(runs.size(), 5u);
  EXPECT_EQ(runs[0].at("run"), data->path("other"));
  EXPECT_EQ(runs[1].at("run"), run("hidden=10_seed=1"));
}

TEST_F(Sweeps, AreNamedByTheirFilesOrByMistake) {
  std::vector<std::string> words{"table"};
  for (const auto& entry : fs::directory_iterator(data->path("sweep")))
    words.push_back(entry.path().string());
  ASSERT_TRUE(fs::exists(data->path("sweep/sweep.svg")));
  output_of_lm(words);
  expect_refused(run_lm({"table", data->path("sweep/sweep.svg")}), "it is a file");
  expect_refused(run_lm({"eval", data->path("sweep")}),
                 "it holds runs, as of a sweep; give one of them, as in " + run("hidden=10_seed=1"));
  expect_refused(run_lm(data->resume("sweep")), "it holds runs, as of a sweep; give one of them");
}

TEST_F(Sweeps, TheDiagramHasPointsAndBand) {
  const std::string svg = bytes_of_file(data->path("sweep/sweep.svg"));
  expect_contains(svg, ">small: perplexity of the validation text</text>");
  expect_contains(svg, ">small: perplexity of the test text</text>");
  expect_contains(svg, ">model.hidden</text>");
  const auto mean = [](const Json& group) {
    return group.at("valid").at("perplexity").at("mean").get<double>();
  };
  const Json& groups = json->at("groups");
  const Json& best = groups[mean(groups[0]) < mean(groups[1]) ? 0 : 1];
  const int hidden = best.at("settings").at("model.hidden").get<int>();
  expect_contains(svg, fmt::format("within 0.25 of hidden {}", hidden));
  expect_contains(svg, fmt::format("<title>{}: {:.6g} ±", hidden, mean(best)));
  output_of_lm(
      {"plot", data->path("sweep"), "--over", "parameters", "--band", "0.5", "--svg", data->path("svg")});
  const std::string other = bytes_of_file(data->path("svg/sweep.svg"));
  expect_contains(other, ">parameters</text>");
  expect_contains(other, "within 0.5 of");
  EXPECT_EQ(other.find("model.hidden"), std::string::npos);
  expect_refused(run_lm({"plot", data->path("sweep"), "--over", "model.hiden"}),
                 "did you mean 'model.hidden'?");
}

// What is no number has curves of its own.
TEST(Sweep, TheDiagramOfSeveralSettingsHasACurveForEach) {
  const SmallData data;
  output_of_lm(words_of(data, {"--set", "model.hidden=9,10", "--set", "model.layers=1,2", "--set",
                               "train.optimizer=sgd,adam", "--set", "train.steps=2"}));
  const std::string svg = bytes_of_file(data.path("sweep/sweep.svg"));
  for (const char* part : {">parameters</text>", ">optimizer sgd</text>", ">optimizer adam</text>"})
    expect_contains(svg, part);
}

TEST_F(Sweeps, FinishedRunsAreNotTrainedAgain) {
  const std::string state = sha256_hex(bytes("hidden=10_seed=1", "state.safetensors"));
  const auto time = fs::last_write_time(run("hidden=10_seed=1") + "/state.safetensors");
  const std::string told =
      output_of_lm(words_of(*data, {"--set", "model.hidden=10,11", "--set", "train.epochs=2"}));
  expect_contains(told, "1 of 2  hidden=10_seed=1  valid ");
  expect_contains(told, "finished before\n2 of 2  hidden=11_seed=1  ");
  EXPECT_EQ(fs::last_write_time(run("hidden=10_seed=1") + "/state.safetensors"), time);
  EXPECT_EQ(sha256_hex(bytes("hidden=10_seed=1", "state.safetensors")), state);
  fs::remove_all(run("hidden=11_seed=1"));
}

TEST_F(Sweeps, AreOfOneText) {
  SmallData other;
  const std::vector<std::string> more{"--set", "model.hidden=10,11", "--set", "train.epochs=2"};
  std::vector<std::string> words = words_of(*data, more);
  write_bytes(other / "data/train.txt", other.text(300));
  words[4] = other.path("data");
  expect_refused(run_lm(words), "hidden=10_seed=1: has another text, " + data->path("data") +
                                    ", than this sweep with " + other.path("data") + ": give another --out");
  EXPECT_FALSE(fs::exists(run("hidden=11_seed=1"))) << "refused before the training";
}

TEST(Sweep, RelaysEachWarningOnce) {
  const SmallData small;
  const Result swept = run_lm(words_of(small, {"--set", "model.hidden=9,10", "--set", "train.optimizer=adam",
                                               "--set", "train.learning_rate=1", "--set", "train.steps=4"}));
  const std::string of_training = "  lm: warning: giving all ";
  const std::size_t relayed = swept.out.find(of_training);
  EXPECT_NE(relayed, std::string::npos) << "what lm train has warned of";
  const std::string whole = swept.out.substr(relayed, swept.out.find('\n', relayed) - relayed);
  EXPECT_EQ(swept.out.find(whole, relayed + 1), std::string::npos) << "each once";
}

TEST(Sweep, MarksNoBestAmongVocabularies) {
  const SmallData small;
  output_of_lm(words_of(small, {"--set", "data.unit=words,characters", "--set", "train.steps=2"}));
  const std::string ring = "<circle", svg = bytes_of_file(small.path("sweep/sweep.svg"));
  EXPECT_EQ(svg.find(ring), std::string::npos);
}

TEST_F(Sweeps, RefusesFoldersOfOtherRuns) {
  expect_refused(run_lm(words_of(*data, {"--set", "model.hidden=9,10", "--set", "train.epochs=1"})),
                 "hidden=9_seed=1: this run has train.epochs = 2, and the sweep has 1: give another --out");
  std::vector<std::string> words = words_of(*data, {});
  words[6] = run("hidden=9_seed=1");
  expect_refused(run_lm(words), "is a run; give the folder");
  words[6] = data->path("small.toml");
  expect_refused(run_lm(words), "is a file; give a folder");
  words[6] = data->path("nothing");
  words[4] = data->path("no data");
  expect_refused(run_lm(words), "no data: no such file or folder");
  EXPECT_FALSE(fs::exists(data->path("nothing"))) << "nothing was begun";
  expect_refused(run_lm({"sweep", "--recipe", data->path("small.toml"), "--out", data->path("nothing")}),
                 "which text? give --data");
  const FolderLock lock(data->path("sweep"));
  expect_refused(run_lm(words_of(*data, {})), "another process sweeps here");
  expect_refused(run_lm({"sweep", "--out", "x"}), "--recipe is required");
  expect_refused(run_lm({"sweep", "--seeds", "0"}), "an integer, 1 to 10000");
}

TEST(Sweep, StopsAndGoesOnToTheSameBytes) {
  const SmallData data;
  const auto words = words_of(data, {"--set", "model.hidden=7,8"});
  Program program(words);
  EXPECT_TRUE(
      program.wait_until([&] { return fs::exists(data.path("sweep/hidden=7_seed=1/model.safetensors")); }));
  const Result stopped = program.end(SIGINT);
  EXPECT_EQ(stopped.status, 128 + SIGINT) << stopped.err;
  expect_contains(stopped.out, "stopped: 0 of 2 runs are finished, 0 failed; to go on: ");
  expect_contains(stopped.out, "--set model.hidden=7,8\n");
  EXPECT_FALSE(fs::exists(data.path("sweep/hidden=8_seed=1")));
  const Json unfinished = json_of_lm({"table", data.path("sweep")}).at("runs");
  EXPECT_EQ(unfinished.at(0).at("run"), data.path("sweep/hidden=7_seed=1"));
  EXPECT_EQ(unfinished.at(0).at("finished"), false);
  const std::string told = output_of_lm(words);
  expect_contains(told, "2 of 2  hidden=8_seed=1  valid ");
  data.trained("whole", {"--set", "model.hidden=7"});
  EXPECT_EQ(data.model_digest("sweep/hidden=7_seed=1"), data.model_digest("whole"));
}

TEST(Sweep, TrainsItsRunsOnIfItHasMoreEpochs) {
  const SmallData data;
  const std::vector<std::string> restless{"--set", "train.schedule=plateau", "--set", "train.decay=0.1",
                                          "--set", "train.learning_rate=0.5"};
  const auto swept = [&](std::vector<std::string> more) {
    more.insert(more.end(), restless.begin(), restless.end());
    return run_lm(words_of(data, more));
  };
  EXPECT_EQ(swept({"--set", "train.epochs=1", "--seeds", "2"}).status, 0);
  const Result longer = swept({"--set", "train.epochs=3", "--seeds", "2"});
  expect_contains(longer.out, "1 of 2  seed=1  goes on\n");
  EXPECT_EQ(longer.out.find("finished before"), std::string::npos) << longer.out;
  std::vector<std::string> whole{"--set", "train.epochs=3"};
  whole.insert(whole.end(), restless.begin(), restless.end());
  data.trained("whole", whole);
  EXPECT_EQ(data.model_digest("sweep/seed=1"), data.model_digest("whole"));
  EXPECT_EQ(log_of(data.path("sweep/seed=1")).back().at("split"), "test");
  expect_contains(swept({"--set", "train.epochs=3", "--seeds", "2"}).out, "finished before");
  const std::string refused = "only a larger number of epochs trains runs on";
  expect_refused(swept({"--set", "train.epochs=2"}), refused);
  expect_refused(swept({"--set", "train.steps=900"}), refused);
  fs::remove_all(data.path("sweep"));
  EXPECT_EQ(swept({"--set", "train.steps=5"}).status, 0);
  for (const char* length : {"train.steps=9", "train.epochs=9"})
    expect_refused(swept({"--set", length}), refused);
}

TEST(Sweep, HasAFolderAndALengthOfItsOwn) {
  const SmallData data;
  const std::vector<std::string> words{"sweep",
                                       "--recipe",
                                       data.path("small.toml"),
                                       "--data",
                                       data.path("data"),
                                       "--set",
                                       "train.steps=6",
                                       "--seeds",
                                       "2",
                                       "--threads",
                                       "1"};
  const Program::Surroundings here{.folder = data.path("")};
  const Result first = run_lm(words, here);
  EXPECT_EQ(first.status, 0) << first.err;
  for (const std::string seed : {"1", "2"})
    EXPECT_EQ(log_of(data / ("runs/small-sweep/seed=" + seed)).back().at("split"), "test");
  expect_contains(bytes_of_file(data / "runs/small-sweep/seed=2/config.toml"), "\nsteps = 6 ");
  expect_contains(run_lm(words, here).out, "finished before");
  std::vector<std::string> twice = words;
  twice.insert(twice.end(), {"--set", "train.steps=5"});
  expect_refused(run_lm(twice, here), "train.steps has values already");
}

TEST(Sweep, ARunThatFailsDoesNotEndIt) {
  const SmallData data;
  const Result result =
      run_lm(words_of(data, {"--set", "train.epochs=1", "--set", "train.optimizer=sgd", "--set",
                             "train.clip=0", "--set", "train.learning_rate=1e30,0.1"}));
  EXPECT_EQ(result.status, 1);
  expect_contains(result.out, "1 of 2  learning_rate=1e+30_seed=1  failed: ");
  expect_contains(result.out, "2 of 2  learning_rate=0.1_seed=1  valid ");
  expect_contains(result.out, "not complete: 1 of 2 runs are finished, 1 failed; to go on: ");
}

TEST(Sweep, MeasuresAPackedTestTextThatAKilledRunDidNot) {
  if (!can_unpack(".gz")) GTEST_SKIP() << "built without zlib";
  const SmallData data;
  write_bytes(data / "data/test.txt.gz", gzip_of(bytes_of_file(data / "data/test.txt")));
  fs::remove(data / "data/test.txt");
  const std::vector<std::string> words = words_of(data, {"--set", "train.epochs=1"});
  output_of_lm(words);
  const fs::path run = data / "sweep/seed=1";
  for (const char* file : {"log.jsonl", "evaluations.jsonl"}) {  // as if killed before the test
    std::istringstream lines(bytes_of_file(run / file));
    std::string kept;
    for (std::string line; std::getline(lines, line);)
      if (Json::parse(line).value("split", "") != "test") kept += line + "\n";
    write_bytes(run / file, kept);
  }
  const std::string told = output_of_lm(words);
  EXPECT_EQ(told.find("finished before"), std::string::npos) << told;
  EXPECT_EQ(log_of(run).back().at("split"), "test");
}

}  // namespace
}  // namespace rondo
