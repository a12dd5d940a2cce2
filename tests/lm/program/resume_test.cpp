// Runs that are interrupted: killed, stopped by a signal. Each goes on to the same bytes of model.safetensors
// as one that never was. Disks that are full, broken or read-only: tests/faults.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "data/files/files.h"
#include "data/files/safetensors.h"
#include "tests/address_sanitizer.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// Waits until the run's log has so many lines (0: until its folder is there); the run must still be going on
/// then.
void wait_for_log(Program& program, const fs::path& run, std::size_t lines) {
  const bool runs =
      program.wait_until([&] { return lines == 0 ? fs::exists(run) : lines_of(run / "log.jsonl") >= lines; });
  ASSERT_TRUE(runs) << "ended before it could be interrupted";
}

class ResumeTest : public testing::TestWithParam<Words> {};

TEST_P(ResumeTest, KilledAtAnyMoment) {
  const SmallData data;
  data.trained("whole", GetParam());
  Words words = data.train("killed", GetParam());
  const bool averages = std::ranges::find(GetParam(), "train.averaging=non_monotonic") != GetParam().end();
  std::vector<std::size_t> kills = {0, 1, 34, 60, 110};  // at so many lines of the log
  if (averages) kills.insert(kills.end(), {150, 190});
  bool before = false, after = false;  // killed before and after the average begins
  for (const std::size_t lines : kills) {
    Program program(words);
    wait_for_log(program, data / "killed", lines);
    ASSERT_EQ(program.end(SIGKILL).status, 128 + SIGKILL);
    const fs::path state = data / "killed/state.safetensors";
    if (fs::exists(data / "killed/config.toml"))
      words = data.resume("killed");
    else
      fs::remove_all(data / "killed");  // killed so early that there is nothing to resume
    if (averages && fs::exists(state))
      (Safetensors(state).metadata("averaging.count") == "0" ? before : after) = true;
  }
  output_of_lm(words);
  EXPECT_EQ(data.model_digest("killed"), data.model_digest("whole"));
  EXPECT_EQ(bytes_of_file(data / "killed/vocab.txt"), bytes_of_file(data / "whole/vocab.txt"));
  EXPECT_TRUE(log_of(data / "killed") == log_of(data / "whole"));
  EXPECT_EQ(before && after, averages);
}

INSTANTIATE_TEST_SUITE_P(
    Trainings, ResumeTest,
    testing::Values(Words{}, Words{"--precision", "bf16"},
                    Words{"train.optimizer=sgd", "train.momentum=0.5", "train.learning_rate=1",
                          "model.cell=gru", "train.micro_batch=0", "train.early_stopping=12"},
                    Words{"model.cell=bn_lstm", "model.trained_initial_states=true"},
                    Words{"train.optimizer=sgd", "train.learning_rate=8", "train.clip=0.25",
                          "train.schedule=constant", "train.averaging=non_monotonic",
                          "train.averaging_interval=2", "train.length_deviation=2",
                          "train.activation_regularization=2", "train.temporal_regularization=1"}));

class Resume : public testing::Test {
 protected:
  SmallData data;
};

TEST_F(Resume, SaysThatTheLastDigitsMayDiffer) {
  data.trained("run", {"--epochs", "1"});
  EXPECT_EQ(output_of_lm(data.resume("run", {"--epochs", "2"})).find("was computed with"), std::string::npos);
  expect_contains(
      output_of_lm({"train", "--out", data.path("run"), "--resume", "--epochs", "3", "--threads", "2"}),
      "\nthis run was computed with 1 thread in fp32 and continues with 2 threads in fp32: the last digits "
      "may differ\n");
}

TEST_F(Resume, StatesAreSavedBetweenEvaluations) {
  for (const bool saves : {false, true}) {
    const std::string run = saves ? "saved" : "lost", every = saves ? "1e-9" : "0";
    Program program(data.train(run, {"train.eval_every=0", "train.save_every=" + every}));
    wait_for_log(program, data / run, 4);
    program.end(SIGKILL);
    EXPECT_EQ(Safetensors(data / run / "state.safetensors").metadata("step") != "0", saves);
  }
}

TEST_F(Resume, FilesThatAreRemovedDuringATrainingAreWrittenAgain) {
  for (const std::string file : {"config.toml", "vocab.txt"}) {
    Program program(data.train(file, {"train.save_every=1e-9"}));
    wait_for_log(program, data / file, 4);
    const std::string before = bytes_of_file(data / file / file);
    fs::remove(data / file / file);
    const Result result = program.end();
    EXPECT_EQ(result.status, 0) << result.err;
    expect_contains(result.err, file + ": was removed during the training, and is written again");
    EXPECT_TRUE(bytes_of_file(data / file / file) == before) << file;
    output_of_lm({"eval", data.path(file)});
  }
}

TEST_F(Resume, StartsAnewWithoutAState) {
  data.trained("run", {"--epochs", "2"});
  const std::string model = data.model_digest("run");
  for (const char* file : {"vocab.txt", "model.safetensors", "state.safetensors", "log.jsonl"})
    fs::remove(data / "run" / file);
  output_of_lm(data.resume("run"));
  EXPECT_EQ(data.model_digest("run"), model);
  // A model without its state is not thrown away, nor is a log.
  const std::string log = bytes_of_file(data / "run/log.jsonl");
  fs::remove(data / "run/state.safetensors");
  for (const char* file : {"log.jsonl", "model.safetensors"}) {
    const std::string bytes = bytes_of_file(data / "run" / file);
    fs::remove(data / "run" / file);
    expect_refused(data.resume("run"),
                   "state.safetensors: missing, so this run cannot be resumed: restore it, or start a new "
                   "run with another --out");
    write_bytes(data / "run" / file, bytes);
  }
  EXPECT_EQ(data.model_digest("run"), model);
  EXPECT_EQ(bytes_of_file(data / "run/log.jsonl"), log);
}

TEST_F(Resume, SignalsSaveAndSayHowToGoOn) {
  data.trained("whole");
  for (const int signal : {SIGTERM, SIGHUP}) {
    const std::string name = fmt::format("stopped by {}", signal);  // a name that a shell must quote
    Program program(data.train(name));
    wait_for_log(program, data / name, 20);
    const Result result = program.end(signal);
    EXPECT_EQ(result.status, 128 + signal);
    expect_contains(result.out, fmt::format("lm train --out '{}' --resume", data.path(name)));
    EXPECT_LT(lines_of(data / name / "log.jsonl"), lines_of(data / "whole/log.jsonl"));
    output_of_lm(data.resume(name));
    EXPECT_EQ(data.model_digest(name), data.model_digest("whole"));
  }
}

TEST_F(Resume, ATerminalThatTakesNoMoreLosesNothing) {
  data.trained("whole", {"--epochs", "2"});
  const Result result = run_lm(data.train("run", {"--epochs", "2"}), {.stdout_file = "/dev/full"});
  EXPECT_EQ(result.status, 1);
  expect_contains(result.err, "standard output");
  EXPECT_EQ(data.model_digest("run"), data.model_digest("whole"));
}

// A signal does not wait for the end of an evaluation, which is done anew by the run that goes on: those
// within an epoch, of an average; that of the model that a finetuning begins with.
TEST_F(Resume, SignalsEndAnEvaluation) {
#ifdef RONDO_ADDRESS_SANITIZER  // which makes the program 20 times slower
  constexpr int lines = 600;
#else
  constexpr int lines = 6000;
#endif
  write_bytes(data / "data/valid.txt", data.text(lines));  // a while
  const auto expect_ended = [&](const Words& words, const std::string& run, std::size_t lines_before) {
    const fs::path log = data / run / "log.jsonl";
    bool was_ended = false;
    for (int tries = 0; tries < 10 && !was_ended; ++tries) {  // on a busy machine it may have been too late
      fs::remove_all(data / run);
      Program program(words);
      program.wait_until([&] { return fs::exists(log) && lines_of(log) >= lines_before; });
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const int status = program.end(SIGTERM).status;
      EXPECT_TRUE(status == 0 || status == 128 + SIGTERM) << status;
      was_ended = status != 0 && lines_of(log) == lines_before + 1;  // the last says that it was stopped
    }
    EXPECT_TRUE(was_ended);
    output_of_lm(data.resume(run));
  };
  const auto expect_same = [&](const std::string& run, const std::string& whole) {
    EXPECT_EQ(data.model_digest(run), data.model_digest(whole));
    EXPECT_TRUE(log_of(data / run) == log_of(data / whole));
  };
  const Words within = {"train.eval_every=10", "train.averaging=always", "train.optimizer=sgd", "--epochs",
                        "1"};
  data.trained("within", within);
  expect_ended(data.train("within, ended", within), "within, ended", 10);
  expect_same("within, ended", "within");

  const auto finetune = [&](const std::string& run) {
    return Words{"finetune", data.path("within"), "finetune.learning_rate=1",
                 "--out",    data.path(run),      "--threads",
                 "1",        "--epochs",          "1"};
  };
  output_of_lm(finetune("base"));
  expect_ended(finetune("base, ended"), "base, ended", 0);
  expect_same("base, ended", "base");
}

// `lm train | head -2`.
TEST_F(Resume, AReaderThatGoesEndsItQuietly) {
  const auto words = [](const std::string& epochs) {
    return Words{"train.eval_every=0", "train.save_every=0", "--epochs", epochs};
  };
  const std::string pipe = data.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Program program(data.train("run", words("100000")), {.stdout_file = pipe});
  {
    std::ifstream reader(pipe);
    std::string line;
    for (int i = 0; i < 2; ++i) std::getline(reader, line);
    EXPECT_TRUE(line.starts_with("epoch 1 ")) << line;
  }
  const Result result = program.end();
  EXPECT_EQ(result.status, 128 + SIGPIPE);
  EXPECT_EQ(result.err, "");
  const auto log = log_of(data / "run");
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(Safetensors(data / "run/state.safetensors").metadata("step"), log.back().at("step").dump())
      << "what was trained is saved";
  const std::string epochs = fmt::format("{}", log.back().at("epoch").get<int>() + 1);
  data.trained("whole", words(epochs));
  output_of_lm(data.resume("run", {"--epochs", epochs}));
  EXPECT_EQ(data.model_digest("run"), data.model_digest("whole"));
  EXPECT_TRUE(log_of(data / "run") == log_of(data / "whole"));
}

TEST_F(Resume, SignalsWhileTheTestTextIsScored) {
  write_bytes(data / "data/test.txt", data.text(15000));  // a while
  const Words settings = {"--epochs", "1", "train.eval_every=0"};
  Program program(data.train("run", settings));
  const auto log = [&] { return bytes_of_file(data / "run" / "log.jsonl"); };
  ASSERT_TRUE(program.wait_until([&] { return log().find("\"valid\"") != std::string::npos; }));
  const Result result = program.end(SIGINT);
  EXPECT_EQ(result.status, 128 + SIGINT);
  expect_contains(result.out, "to resume: ");
  expect_contains(result.out, "lm train --out");
  EXPECT_EQ(log().find("\"test\""), std::string::npos);
  const std::string model = data.model_digest("run");
  expect_contains(output_of_lm(data.resume("run")), "test (best checkpoint)");
  EXPECT_EQ(data.model_digest("run"), model);
}

TEST_F(Resume, RefusesWhatDoesNotFit) {
  data.trained("run", {"--epochs", "1"});
  const std::string state = bytes_of_file(data / "run/state.safetensors"), model = data.model_digest("run");
  expect_refused(data.resume("none"), "no run at");
  expect_refused(data.resume("run", {"model.hidden=2"}), "--threads and --data may\n");
  expect_refused(data.resume("run", {"--data", data.path("nowhere")}), "no such file or folder");
  {
    const FolderLock other_process(data / "run");
    expect_refused(data.resume("run"), "another process");
  }

  for (const std::string& bytes :
       {state.substr(0, state.size() / 2), std::string(), data.model_bytes("run")}) {
    write_bytes(data / "run/state.safetensors", bytes);
    expect_refused(data.resume("run"), "state.safetensors");
  }
  write_bytes(data / "run/state.safetensors", state);

  const std::string vocabulary = bytes_of_file(data / "run/vocab.txt");
  write_bytes(data / "run/vocab.txt", vocabulary + "zebra\n");
  expect_refused(data.resume("run"), "vocab.txt: not the vocabulary");
  write_bytes(data / "run/vocab.txt", vocabulary);

  write_bytes(data / "data/valid.txt", "the cat sat\n");
  expect_refused(data.resume("run"), "the text has changed");
  EXPECT_EQ(data.model_digest("run"), model);
  EXPECT_TRUE(bytes_of_file(data / "run/state.safetensors") == state);
}

TEST_F(Resume, GoesOnWithALogThatLostLines) {
  data.trained("whole", {"--epochs", "2"});
  const auto whole = log_of(data / "whole");
  for (const size_t lines : {0, 1, 7}) {  // left, beside the begin of another
    const std::string run = fmt::format("{}", lines);
    data.trained(run, {"--epochs", "1"});
    const fs::path path = data / run / "log.jsonl";
    const std::string log = bytes_of_file(path);
    const auto after_one = log_of(data / run);
    size_t end = 0;
    for (size_t i = 0; i < lines; ++i) end = log.find('\n', end) + 1;
    write_bytes(path, log.substr(0, end + 10));
    if (lines == 0) fs::remove(path);
    expect_contains(output_of_lm(data.resume(run, {"--epochs", "2"})), "log.jsonl: lacks lines");
    // What was there, and what comes after the first epoch.
    std::vector<Json> expected(after_one.begin(), after_one.begin() + lines);
    for (const auto& entry : whole)
      if (!entry.contains("epoch") || entry.at("epoch") == 2) expected.push_back(entry);
    EXPECT_EQ(log_of(data / run), expected);
    EXPECT_EQ(output_of_lm(data.resume(run)).find("lacks lines"), std::string::npos);
    EXPECT_EQ(data.model_digest(run), data.model_digest("whole")) << "nothing was left to train";
  }
  expect_refused(data.resume("whole", {"--epochs", "1"}), "has trained 2 epochs already");
}

// A loss that is not a number. The rate is raised in the run's config.toml, so that there is a best model to
// lose; once that of the weights, once that of their average.
TEST_F(Resume, NotFinite) {
  const Words diverging = {"train.clip=0", "train.optimizer=sgd"};
  for (const std::string run : {"never", "always"}) {
    data.trained(run, diverging + Words{"--epochs", "1", "train.averaging=" + run});
    const std::string model = data.model_digest(run);
    replace_in_file(data / run / "config.toml", "\nlearning_rate = 0.01", "\nlearning_rate = 1e38");
    const Result result = run_lm(data.resume(run, {"--epochs", "3"}));
    EXPECT_EQ(result.status, 1);
    for (const char* part : {"step 1", "not finite: ",
                             "Training stops and the best model stays; try a lower train.learning_rate",
                             "in a new run (another --out): --resume changes no settings"})
      expect_contains(result.err, part);
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(data.model_digest(run), model);
  }
  const Result result =
      run_lm(data.train("first epoch", diverging + Words{"train.learning_rate=1e38", "train.eval_every=0"}));
  EXPECT_EQ(result.status, 1);
  EXPECT_FALSE(fs::exists(data / "first epoch" / "model.safetensors"));
  expect_contains(result.err, "Training stops; try");
}

}  // namespace
}  // namespace rondo
