// Signals that stop a command, trainings that end by --steps or before their first evaluation. Trainings that
// go on after a signal: resume_test.cpp.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "lm/program/terminal.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

// `lm generate | head -1`. Where SIGPIPE is ignored, the program sees what it would have said, and no full
// disk.
TEST(Stopped, ByAReaderThatGoes) {
  const SmallData data;
  data.trained("run", {"--epochs", "1"});
  const std::string pipe = data.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const bool ignored : {false, true})
    for (const Words& words : {Words{"generate", data.path("run"), "--seed", "1", "-n", "1000000000"},
                               Words{"score", data.path("run")}, data.train("ignored", {"--epochs", "1"})}) {
      if (words[0] == "train" && !ignored) continue;  // resume_test.cpp
      Program program(
          words, {.input = std::string(100'000, '\n'), .stdout_file = pipe, .ignores_broken_pipes = ignored});
      std::ifstream(pipe).get();
      const Result result = program.end();
      EXPECT_EQ(result.status, 128 + SIGPIPE) << words.front();
      EXPECT_EQ(result.err, "");
    }
  output_of_lm(data.resume("ignored"));
}

TEST(Stopped, AFileThatIsHalfWritten) {
  const TemporaryFolder folder;
  std::string text;
  for (std::uint32_t i = 0; i < 600'000; ++i)  // which takes a while to write
    text += fmt::format("{}{}", (i * 2654435761u) >> 20, i % 10 == 9 ? '\n' : ' ');
  write_bytes(folder / "text.txt", text);
  write_bytes(folder / "model.arpa", "old");
  const fs::path partial = folder / "model.arpa.partial";
  bool was_stopped = false;
  for (int tries = 0; tries < 10 && !was_stopped; ++tries) {  // on a busy machine it may have been too late
    Program program({"ngram", "--data", folder / "text.txt", "--order", "5", "--out", folder / "model.arpa"});
    program.wait_until([&] { return fs::exists(partial); });
    was_stopped = program.end(SIGINT).status == 128 + SIGINT;
    if (was_stopped) {
      EXPECT_EQ(bytes_of_file(folder / "model.arpa"), "old");
    }
  }
  EXPECT_TRUE(was_stopped);
}

TEST(Limits, StepsEndATraining) {
  const SmallData data;
  const std::string out = data.trained("run", {"--steps", "7", "train.eval_every=0"});
  expect_contains(out, "test (best checkpoint)");
  const auto epochs_of = [&](const std::string& run) {
    return rows_of_table({data.path(run)})[0].at("epochs");
  };
  for (const auto& entry : log_of(data / "run"))
    if (entry.at("event") == "evaluation" && entry.contains("step")) {
      EXPECT_EQ(entry.at("step"), 7);
    }
  expect_refused(data.resume("run", {"--steps", "5"}), "has trained 7 steps already");
  expect_refused(data.resume("run", {"--steps", "-1"}), "--steps");
  output_of_lm(data.resume("run", {"--steps", "9"}));
  output_of_lm(data.resume("run", {"--steps", "0", "--epochs", "1"}));  // epochs end it
  EXPECT_GE(epochs_of("run"), 1);
  // Beyond the epochs that the recipe has.
  data.trained("long", {"--epochs", "1", "--steps", "40"});
  EXPECT_GT(epochs_of("long"), 1);
}

TEST(Limits, AStopBeforeTheFirstEvaluationLeavesAModel) {
  const SmallData data;
  const Words settings = {"--epochs", "2000", "train.eval_every=0", "train.log_every=1"};
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
  expect_refused({"generate", data.path("run")}, "holds no model");
  output_of_lm({"plot", data.path("run")});
}

/// Raises signals one after the other; the exit status of the first, 0 if none was noted.
int exit_status_after(const std::vector<int>& raised) {
  const StopSignals signals;
  EXPECT_EQ(signals.received(), 0) << "what an earlier one noted is forgotten";
  for (const int signal : raised) std::raise(signal);
  try {
    signals.throw_if_received();
  } catch (const Stopped& stopped) {
    return stopped.exit_status;
  }
  return 0;
}

TEST(StopSignals, NoteTheFirst) {
  const auto hang_up = std::signal(SIGHUP, SIG_DFL), pipe = std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(exit_status_after({}), 0);
  EXPECT_EQ(exit_status_after({SIGINT}), 130);
  EXPECT_EQ(exit_status_after({SIGTERM}), 143);
  EXPECT_EQ(exit_status_after({SIGHUP, SIGHUP}), 129) << "from the shell and from the terminal";
  EXPECT_EQ(exit_status_after({SIGPIPE, SIGPIPE}), 141) << "of the next line";
  EXPECT_EQ(exit_status_after({SIGINT, SIGPIPE}), 130) << "lm train | tee, where tee takes the Ctrl-C, too";
  for (const int signal : {SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);  // as nohup does
  for (const int signal : {SIGHUP, SIGPIPE}) EXPECT_EQ(exit_status_after({signal}), 0);
  std::signal(SIGHUP, hang_up), std::signal(SIGPIPE, pipe);
}

TEST(StopSignals, TheSecondStopsAtOnce) {
  const auto twice = [](int first, int second) {
    const StopSignals signals;
    std::raise(first);
    std::raise(second);
    _exit(0);
  };
  EXPECT_EXIT(twice(SIGINT, SIGINT), testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(twice(SIGINT, SIGTERM), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(twice(SIGHUP, SIGINT), testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignals, AreGoneAfterwards) {
  EXPECT_EXIT(
      {
        { const StopSignals signals; }
        std::raise(SIGTERM);
        _exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace rondo
