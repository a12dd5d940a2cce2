// The end of a training: --steps, --max-minutes, Ctrl-C before the first evaluation; --quiet; and more
// threads than processors.
#include "data/files/input_file.h"
#include "tensor/threads.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

nlohmann::json row_of(const SmallData& data, const std::string& run) {
  return json_of_lm({"table", data.path(run)}).at("runs").at(0);
}

TEST(Limits, StepsEndATraining) {
  const SmallData data;
  const std::string out = output_of_lm(data.train("run", {"--steps", "7", "--set", "train.eval_every=0"}));
  expect_contains(out, "test (best checkpoint)");
  const auto row = row_of(data, "run");
  EXPECT_EQ(row.at("finished"), true);
  for (const auto& entry : log_of(data / "run"))
    if (entry.at("event") == "evaluation" && entry.contains("step")) {
      EXPECT_EQ(entry.at("step"), 7);
    }
  expect_refused(run_lm(data.resume("run", {"--steps", "5"})), "has trained 7 steps already");
  expect_refused(run_lm(data.resume("run", {"--steps", "-1"})), "--steps");
  output_of_lm(data.resume("run", {"--steps", "9"}));
  output_of_lm(data.resume("run", {"--steps", "0", "--epochs", "1"}));  // epochs end it
  EXPECT_EQ(row_of(data, "run").at("epochs"), 1);
  // Beyond the epochs that the recipe has.
  output_of_lm(data.train("long", {"--epochs", "1", "--steps", "40"}));
  EXPECT_GT(row_of(data, "long").at("epochs"), 1);
}

TEST(Limits, MinutesEndATrainingThatGoesOnAsIfItHadNotEnded) {
  const SmallData data;
  const std::vector<std::string> settings = {"--epochs", "3", "--set", "train.eval_every=0"};
  data.trained("whole", settings);
  std::vector<std::string> more = settings;
  more.insert(more.end(), {"--max-minutes", "1e-6"});  // after the first step
  const std::string out = output_of_lm(data.train("run", more));
  expect_contains(out, "test (best checkpoint)");
  expect_contains(out, " --resume --max-minutes 1e-06");
  auto row = row_of(data, "run");
  EXPECT_EQ(row.at("finished"), false);
  EXPECT_FALSE(row.at("test").at("nats").is_null()) << "there are figures";
  output_of_lm({"eval", data.path("run"), "--threads", "1"});
  output_of_lm(data.resume("run"));
  EXPECT_EQ(data.model_digest("run"), data.model_digest("whole"));
  EXPECT_TRUE(log_of(data / "run") == log_of(data / "whole"));
  EXPECT_EQ(row_of(data, "run").at("finished"), true);
}

TEST(Limits, AStopBeforeTheFirstEvaluationLeavesAModel) {
  const SmallData data;
  const std::vector<std::string> settings = {"--epochs",           "2000",  "--set",
                                             "train.eval_every=0", "--set", "train.log_every=1"};
  write_bytes(data / "data/train.txt", SmallData().text(20000));  // an epoch takes a while
  Program program(data.train("run", settings));
  const fs::path log = data / "run/log.jsonl";
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(log) && lines_of(log) > 3; }));
  const Result result = program.end(SIGINT);
  EXPECT_EQ(result.status, 128 + SIGINT);
  expect_contains(result.out, "which are not evaluated");
  const auto last = log_of(data / "run").back();
  EXPECT_EQ(last.at("event"), "stopped");
  EXPECT_EQ(last.at("model_is_evaluated"), false);
  expect_contains(run_lm({"table", data.path("run")}).err, "run: not evaluated yet");
  output_of_lm({"generate", data.path("run"), "--seed", "1", "-n", "5"});
  output_of_lm({"plot", data.path("run")});
}

TEST(Limits, QuietPrintsTheFolder) {
  const SmallData data;
  std::vector<std::string> words = data.train("run", {"--epochs", "1", "--quiet"});
  const Result result = run_lm(words);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, data.path("run") + "\n");
  EXPECT_EQ(result.err, "");
  fs::remove(data / "run/model.safetensors");
  expect_refused(run_lm({"generate", data.path("run")}), "holds no model");

  Program program(data.train("stopped", {"--epochs", "9999", "--quiet"}));
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(data / "stopped/model.safetensors"); }));
  const Result stopped = program.end(SIGINT);
  EXPECT_EQ(stopped.out, "");
  expect_contains(stopped.err, "lm: stopped at step ");
}

}  // namespace
}  // namespace rondo
