// The end of a training: --steps, and Ctrl-C before the first evaluation.
#include "data/files/input_file.h"
#include "tensor/threads.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

TEST(Limits, StepsEndATraining) {
  const SmallData data;
  const std::string out = output_of_lm(data.train("run", {"--steps", "7", "--set", "train.eval_every=0"}));
  expect_contains(out, "test (best checkpoint)");
  const auto epochs_of = [&](const std::string& run) {
    return rows_of_table({data.path(run)})[0].at("epochs");
  };
  for (const auto& entry : log_of(data / "run"))
    if (entry.at("event") == "evaluation" && entry.contains("step")) {
      EXPECT_EQ(entry.at("step"), 7);
    }
  expect_refused(run_lm(data.resume("run", {"--steps", "5"})), "has trained 7 steps already");
  expect_refused(run_lm(data.resume("run", {"--steps", "-1"})), "--steps");
  output_of_lm(data.resume("run", {"--steps", "9"}));
  output_of_lm(data.resume("run", {"--steps", "0", "--epochs", "1"}));  // epochs end it
  EXPECT_GE(epochs_of("run"), 1);
  // Beyond the epochs that the recipe has.
  output_of_lm(data.train("long", {"--epochs", "1", "--steps", "40"}));
  EXPECT_GT(epochs_of("long"), 1);
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
  fs::remove(data / "run/model.safetensors");
  expect_refused(run_lm({"generate", data.path("run")}), "holds no model");
  output_of_lm({"plot", data.path("run")});
}

}  // namespace
}  // namespace rondo
