// `lm sweep` as a user starts it, and the report of what it has trained.
#include "lm/report/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

Words words_of(const SmallData& data, const Words& more) {
  Words words = data.train("sweep", more);
  words.front() = "sweep";
  return words;
}

/// The diagram of a sweep with these words, of which EXPECT that it has these parts.
std::string drawn(const SmallData& data, const Words& more, const Words& parts) {
  output_of_lm(words_of(data, more));
  output_of_lm({"plot", data.path("sweep"), "--svg", data.path("svg")});
  const std::string svg = bytes_of_file(data.path("svg/sweep.svg"));
  for (const std::string& part : parts) expect_contains(svg, part);
  return svg;
}

class Sweeps : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    told = output_of_lm(words_of(*data, {"model.hidden=10,9", "train.epochs=2", "--seeds", "2"}));
  }
  static std::string run(const std::string& name) { return data->path("sweep/" + name); }
  static std::string bytes(const std::string& name, const char* file) {
    return bytes_of_file(fs::path(run(name)) / file);
  }

  static std::string told;
};
std::string Sweeps::told;

TEST_F(Sweeps, EachRunHasTheBytesOfLmTrain) {
  const std::string name = "hidden=9_seed=2", config = bytes(name, "config.toml"),
                    model = sha256_hex(bytes(name, "model.safetensors")),
                    vocabulary = bytes(name, "vocab.txt");
  const auto log = log_of(run(name));
  fs::rename(run(name), data->path("swept"));
  output_of_lm({"train", "--recipe", data->path("small.toml"), "--data", data->path("data"), "--out",
                run(name), "model.hidden=9", "train.epochs=2", "train.seed=2", "--threads", "1"});
  EXPECT_EQ(bytes(name, "config.toml"), config) << "the command line, too";
  EXPECT_EQ(sha256_hex(bytes(name, "model.safetensors")), model);
  EXPECT_EQ(bytes(name, "vocab.txt"), vocabulary);
  EXPECT_EQ(log_of(run(name)), log);
}

TEST_F(Sweeps, OfEqualSizesGoOn) {
  Words words = data->train("equal", {"model.cell=lstm,gru", "model.hidden=fit:4k", "train.steps=1"});
  words.front() = "sweep";
  output_of_lm(words);
  expect_contains(output_of_lm(words), "2 of 2  cell=gru_seed=1  finished before");
  Words others = words;
  *std::ranges::find(others, "model.hidden=fit:4k") = "model.hidden=fit:6k";
  expect_refused(others, "this run has model.hidden = ");
  const Json rows = rows_of_table({data->path("equal")});
  ASSERT_EQ(rows.size(), 2u);
  for (const Json& row : rows) EXPECT_NEAR(row.at("parameters").get<double>(), 4000, 200);
  EXPECT_NE(rows[0].at("hidden"), rows[1].at("hidden"));
}

TEST_F(Sweeps, EndWithTheirTable) {
  expect_contains(told, "\nrecipe  hidden  parameters  ");
  const Json rows = rows_of_table({data->path("sweep")});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("hidden"), 10);
  EXPECT_EQ(rows[0].at("runs"), 2);
  data->trained("other", {"train.epochs=1"});
  const Words among{"table", data->path("other"), data->path("sweep"), data->path("small.toml")};
  expect_contains(output_of_lm(among), "small (other)");  // and no row for a file
  expect_refused({"table", data->path("small.toml")}, "it is a file");
  for (const auto& words : {Words{"eval", data->path("sweep")}, data->resume("sweep")})
    expect_refused(words, "it holds runs, as of a sweep; give one of them, as in " + run("hidden=10_seed=1"));
}

TEST_F(Sweeps, TheDiagramHasPoints) {
  output_of_lm({"plot", data->path("sweep"), "--svg", data->path("svg")});
  const std::string svg = bytes_of_file(data->path("svg/sweep.svg"));
  for (const char* part : {">small: perplexity of the validation text</text>",
                           ">perplexity (grey: best ± 0.25)</text>", ">model.hidden</text>"})
    expect_contains(svg, part);
  for (const Json& row : rows_of_table({data->path("sweep")}))
    expect_contains(svg, fmt::format("<title>{}: {:.6g} ±", row.at("hidden").get<int>(),
                                     row.at("valid perplexity").at("mean").get<double>()));
}

// Where all models have one size, the x axis is the last setting that tells them apart; if none does, it is
// the last one, and the others name the curves.
TEST(Sweep, TheDiagramOfModelsOfOneSize) {
  const SmallData data;
  drawn(data, {"--set", "train.batch:train.length=8:2,4:4", "train.steps=2"}, {">train.length</text>"});
  const std::string time = bytes_of_file(data.path("svg/sweep_time.svg"));
  for (const char* part : {">small: training time</text>", ">seconds</text>", "<title>2: ", "<title>4: "})
    expect_contains(time, part);
  drawn(data, {"train.batch=4,8", "train.length=2,4", "train.steps=2"},
        {">train.length</text>", ">batch 4</text>", ">batch 8</text>"});
}

// What is no number has curves of its own, and vocabularies do not compare.
TEST(Sweep, TheDiagramOfSeveralSettingsHasACurveForEach) {
  const std::string svg =
      drawn(SmallData(), {"model.hidden=9,10", "data.unit=words,characters", "train.steps=2"},
            {">model.hidden</text>", ">unit words</text>", ">unit characters</text>"});
  EXPECT_EQ(svg.find("<circle"), std::string::npos) << "a best one";
}

// A tick for each value, where curves would be single points.
TEST(Sweep, TheDiagramOfWordsHasATickForEach) {
  const std::string svg =
      drawn(SmallData(), {"model.cell=gru,lstm", "train.steps=2"},
            {">gru</text>", ">lstm</text>", ">model.cell</text>", "<title>0: ", "<title>1: "});
  EXPECT_EQ(svg.find("stroke-linejoin"), std::string::npos) << "a line from one word to the other";
}

TEST_F(Sweeps, FinishedRunsAreNotTrainedAgain) {
  const auto time = fs::last_write_time(run("hidden=10_seed=1") + "/state.safetensors");
  const std::string again = output_of_lm(words_of(*data, {"model.hidden=10,11", "train.epochs=2"}));
  expect_contains(again, "1 of 2  hidden=10_seed=1  finished before\n2 of 2  hidden=11_seed=1  begins\n");
  EXPECT_EQ(fs::last_write_time(run("hidden=10_seed=1") + "/state.safetensors"), time);
  fs::remove_all(run("hidden=11_seed=1"));
}

TEST_F(Sweeps, RefusesWhatIsNotTheirs) {
  expect_refused(words_of(*data, {"model.hidden=9,10", "train.epochs=1"}),
                 "hidden=9_seed=1: this run has train.epochs = 2, and the sweep has 1: give another --out");
  const auto refused = [&](std::size_t word, const std::string& value, const std::string& part) {
    Words words = words_of(*data, {"model.hidden=10,9", "train.epochs=2"});
    words[word] = value;
    expect_refused(words, part);
  };
  constexpr std::size_t data_word = 4, out_word = 6;
  SmallData other;
  refused(data_word, other.path("data"), "hidden=10_seed=1: this run has the data " + data->path("data"));
  refused(data_word, data->path("no data"), "no data: no such file or folder");
  refused(out_word, run("hidden=9_seed=1"), "is a run; give the folder");
  refused(out_word, data->path("small.toml"), "is a file; give a folder");
  const FolderLock lock(data->path("sweep"));
  refused(out_word, data->path("sweep"), "another process sweeps here");
  expect_refused({"sweep", "--out", "x"}, "--recipe is required");
  expect_refused({"sweep", "--seeds", "0"}, "an integer, 1 to 10000");
}

TEST(Sweep, StopsAndGoesOnToTheSameBytes) {
  const SmallData data;
  const auto words = words_of(data, {"model.hidden=7,8"});
  Program program(words);
  EXPECT_TRUE(
      program.wait_until([&] { return fs::exists(data.path("sweep/hidden=7_seed=1/model.safetensors")); }));
  const Result stopped = program.end(SIGINT);
  EXPECT_EQ(stopped.status, 128 + SIGINT) << stopped.err;
  expect_contains(stopped.out, "stopped; to go on: ");
  expect_contains(stopped.out, "--set model.hidden=7,8\n");
  EXPECT_FALSE(fs::exists(data.path("sweep/hidden=8_seed=1")));
  EXPECT_EQ(rows_of_table({data.path("sweep")})[0].at("state"), "unfinished");
  const std::string told = output_of_lm(words);
  expect_contains(told, "1 of 2  hidden=7_seed=1  goes on\n");
  data.trained("whole", {"model.hidden=7"});
  EXPECT_EQ(data.model_digest("sweep/hidden=7_seed=1"), data.model_digest("whole"));
  // As if it had been killed before the test.
  for (const char* file : {"log.jsonl", "evaluations.jsonl"}) {
    std::string kept;
    for (const std::string& line : lines_in(bytes_of_file(data / "sweep/hidden=7_seed=1" / file)))
      if (Json::parse(line).value("split", "") != "test") kept += line + "\n";
    write_bytes(data / "sweep/hidden=7_seed=1" / file, kept);
  }
  output_of_lm(words);
  EXPECT_EQ(log_of(data / "sweep/hidden=7_seed=1").back().at("split"), "test");
}

TEST(Sweep, HasAFolderAndALengthOfItsOwn) {
  const SmallData data;
  Words words = words_of(data, {"train.steps=6", "--seeds", "2"});
  const auto out = std::ranges::find(words, "--out");
  words.erase(out, out + 2);
  const Program::Surroundings here{.folder = data.path("")};
  const Result first = run_lm_well(words, here);
  for (const std::string seed : {"1", "2"})
    EXPECT_EQ(log_of(data / ("runs/small-sweep/seed=" + seed)).back().at("split"), "test");
  expect_contains(bytes_of_file(data / "runs/small-sweep/seed=2/config.toml"), "\nsteps = 6 ");
}

TEST(Sweep, ARunThatFailsDoesNotEndIt) {
  const SmallData data;
  const Result result = run_lm(words_of(
      data, {"train.epochs=1", "train.optimizer=sgd", "train.clip=0", "train.learning_rate=1e38,0.1"}));
  EXPECT_EQ(result.status, 1);
  expect_contains(result.out, "1 of 2  learning_rate=1e+38_seed=1  failed, with exit status 1\n");
  EXPECT_EQ(log_of(data / "sweep/learning_rate=0.1_seed=1").back().at("split"), "test");
  expect_contains(result.out, "1 of 2 runs have failed; to try them again: ");

  const Result refused =
      run_lm({"sweep", "--recipe", data.path("small.toml"), "--out", data.path("nothing"), "--seeds", "2"});
  EXPECT_EQ(refused.status, 2);
  expect_contains(refused.err, "which text? give --data");
}

}  // namespace
}  // namespace rondo
