// `lm sweep`: trains every combination of settings with several seeds, one run after the other. Each run is
// one that `lm train` makes with these settings, by a process of its own, in a folder that is named after
// them. Finished runs are not trained again, and stopped ones are resumed. Next: lm/report/sweep.h.
#include "lm/report/sweep.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "data/files/files.h"
#include "lm/commands/options.h"
#include "lm/commands/training.h"
#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/run_groups.h"
#include "tensor/error.h"

namespace rondo {

namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  TrainOptions train{};  // of all runs; `out` is the folder of the runs
  std::vector<SweptSettings> settings{};
  std::optional<std::int64_t> seeds{};  // none: one
  std::vector<std::string> words{};     // of the command line
};

/// Throws InputError if the run that is there has other settings or other data than the sweep would give it.
void check_is_the_same(const fs::path& folder, const SweepRun& run, const std::string& data) {
  RunConfig there = read_config({folder});
  Recipe wanted = run.recipe;
  if (wanted.fitted_parameters > 0)
    fit_width(wanted, open_run_without_weights(folder.string()).task().sizes());
  const Keys wanted_keys = keys_of(wanted);
  for (const Key& key : keys_of(there.recipe)) {
    const std::string its = value_text(key), ours = default_text(key, wanted_keys);
    check_input(its == ours, "{}: this run has {} = {}, and the sweep has {}: give another --out",
                folder.string(), key.name, its, ours);
  }
  const std::string& its_data = there.made_by.data;
  std::error_code error;
  check_input(
      data.empty() || its_data == absolute_path(data).string() || fs::equivalent(its_data, data, error),
      "{}: this run has the data {}, and the sweep has {}: give another --out", folder.string(),
      name_of_text(its_data), data);
}

/// Returns the words of the command that trains or resumes a run, as a user would type it.
std::vector<std::string> words_of(const SweepOptions& options, const SweepRun& run, const fs::path& folder) {
  const TrainOptions& train = options.train;
  std::vector<std::string> words{options.words.front(), "train"};
  const auto add = [&](const std::string& flag, const std::string& value) {
    words.insert(words.end(), {flag, value});
  };
  const bool resumes = is_run(folder);
  if (!resumes) add("--recipe", train.recipe);
  if (!train.data.empty()) add("--data", train.data);
  add("--out", folder.string());
  if (resumes)
    words.emplace_back("--resume");
  else
    for (const Setting& it : run.settings) add("--set", fmt::format("{}={}", it.key, it.value));
  if (train.device) add("--device", name_of(*train.device));
  if (train.precision) add("--precision", name_of(*train.precision));
  if (train.threads) add("--threads", fmt::format("{}", *train.threads));
  return words;
}

/// Starts a process of this program. A signal from the terminal does not reach it; if this process ends, it
/// gets SIGTERM. Error if it cannot be started.
pid_t start(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid(), process = fork();
  check_system(process >= 0, "cannot start another process");
  if (process > 0) return process;
  // Only calls that are safe between fork() and exec() follow.
  setpgid(0, 0);  // its own group, or Ctrl-C would reach it twice
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  execv("/proc/self/exe", arguments.data());
  _exit(127);
}

/// Waits until a process has ended, and passes the first signal on. Returns its exit status, or 128 + the
/// signal that ended it.
int wait_for(pid_t process, const StopSignals& signals) {
  int status = 0;
  for (bool stopping = false; waitpid(process, &status, WNOHANG) == 0;) {
    if (signals.received() != 0 && !std::exchange(stopping, true)) kill(process, SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Whether a run is finished and measured; without a measurement it may have been killed between its training
/// and its test. Says so if the run cannot be read.
bool is_finished(const fs::path& folder) {
  try {
    const RunRecord run = read_run(folder.string());
    return run.finished && run.measured[test_kind];
  } catch (const InputError& error) {
    print_note(error.what());
    return false;
  }
}

/// Trains the runs that are not finished. Returns 0; 1 if some have failed, 2 if all have refused their
/// input; 128 + the signal that stopped it, once the training has saved its state.
int train_all(const SweepOptions& options, const std::vector<SweepRun>& runs) {
  constexpr int bad_input = 2;
  const StopSignals signals;
  std::size_t failed = 0, refused = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const fs::path folder = fs::path(options.train.out) / runs[i].name;
    const auto tell = [&](const std::string& what) {
      fmt::print("{} of {}  {}  {}\n", i + 1, runs.size(), runs[i].name, what);
      flush_output();
    };
    if (is_run(folder) && is_finished(folder)) {
      tell("finished before");
      continue;
    }
    tell(is_run(folder) ? "goes on" : "begins");
    const int status = wait_for(start(words_of(options, runs[i], folder)), signals);
    if (const int signal = signals.received(); signal != 0) {
      fmt::print("stopped; to go on: {}\n", shell_command(options.words));
      return 128 + signal;
    }
    if (status == bad_input) ++refused;
    if (status != 0) tell(fmt::format("failed, with exit status {}", status)), ++failed;
  }
  if (failed == 0) return 0;
  fmt::print("{} of {} runs have failed; to try them again: {}\n", failed, runs.size(),
             shell_command(options.words));
  return refused == runs.size() ? bad_input : 1;
}

/// Trains the runs and prints their table. Returns the status of train_all().
int sweep(const SweepOptions& options) {
  const fs::path out = options.train.out;
  const std::string& data = options.train.data;
  check_input(!is_run(out), "--out {}: is a run; give the folder in which the sweep's runs are to be",
              out.string());
  check_input(!fs::exists(out) || fs::is_directory(out), "--out {}: is a file; give a folder", out.string());
  check_input(data.empty() || fs::is_regular_file(data) || fs::is_directory(data),
              "--data {}: no such file or folder; every run reads it anew", data);
  const std::vector<SweepRun> runs = runs_of_sweep(options.train.recipe, options.settings, options.seeds);
  for (const SweepRun& run : runs)
    if (is_run(out / run.name)) check_is_the_same(out / run.name, run, data);
  fs::create_directories(out);
  const FolderLock lock(out, "sweeps here");
  const int status = train_all(options, runs);
  std::vector<std::string> folders;
  for (const SweepRun& run : runs)
    if (is_run(out / run.name)) folders.push_back((out / run.name).string());
  if (const Runs records = read_runs(folders).first; !records.empty()) print_table(records);
  return status;
}

}  // namespace

Command add_sweep(CommandLine& line) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App& app = add_command(
      line, "sweep", "train every combination of settings, with several seeds",
      "lm sweep --recipe char-lstm --data book.txt --set train.epochs=5 --set model.hidden=128,256,512 "
      "--seeds 3 --out runs/sizes",
      "Each run is that of lm train with these settings, in a folder of --out that is named after them. At "
      "the end comes their table, which lm table FOLDER shows again; lm plot FOLDER draws it. Ctrl-C stops, "
      "and the same command continues: finished runs are kept, stopped ones resumed.");
  add_text(app, "--recipe", options->train.recipe, "NAME|FILE", "a name from `lm recipes`, or a TOML file")
      ->required();
  add_text(app, "--data", options->train.data, "DIR|FILE", data_text);
  add_text(app, "--out", options->train.out, "FOLDER",
           "the folder to make, or to continue in (default: runs/RECIPE-sweep)");
  add_settings(
      app, options->settings,
      "a setting with one or several values, can be repeated; a list is a value in [ ]. Settings that "
      "vary together: --set model.hidden:model.dropout=650:0.5,1500:0.65",
      parse_swept, "KEY=VALUE,...");
  add_value(app, "--seeds", options->seeds, "N", integer(1, 10000),
            "runs of each setting, with the seeds from the recipe's train.seed on (default: 1)");
  add_device(app, options->train);
  return {&app, [options, &line] {
            if (options->train.out.empty())  // the same folder at each call, so that the same command goes on
              options->train.out = fmt::format("runs/{}-sweep", load_recipe(options->train.recipe).name);
            options->words = line.words;
            return sweep(*options);
          }};
}

}  // namespace rondo
