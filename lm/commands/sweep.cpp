// `lm sweep`: trains every combination of settings with several seeds. Each run is one that `lm train` makes
// with these settings, by a process of its own, in a folder that is named after them. Finished runs are not
// trained again, and stopped ones are resumed. Next: lm/report/sweep.h.
#include "lm/report/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "data/files/files.h"
#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/commands/training.h"
#include "lm/program/cli.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/report/run_table.h"
#include "tensor/error.h"
#include "tensor/threads.h"

namespace rondo {

namespace {

namespace fs = std::filesystem;

// --- Plan ---

struct SweepOptions {
  TrainOptions train{};  // of all runs; `out` is the folder of the runs
  std::vector<SweptSettings> settings{};
  std::optional<std::int64_t> seeds{};  // none: one
  int jobs = 1;                         // runs at a time, which share the threads
  bool json = false;
  std::vector<std::string> words{};  // of the command line
};

struct PlannedRun {
  SweepRun run;
  fs::path folder;
  bool has_test = false;  // whether a model is measured on a test text at the end

  bool is_there() const { return file_is_there(RunFolder{folder}.config()); }
};

/// Whether a run can be trained on until it is as long as the sweep wants it. By epochs: after `--steps` a
/// run is evaluated where a longer one is not, and the evaluation may change its learning rate.
bool is_shorter(const Recipe& there, const Recipe& planned) {
  const TrainerOptions &before = there.trainer, &now = planned.trainer;
  return before.steps == 0 && now.steps == 0 && now.epochs > before.epochs;
}

/// InputError if a run that is there has other settings or another text than the sweep would give it, except
/// that it may be shorter. `made_by` is what a training would record.
void check_is_the_same(const PlannedRun& planned, const Provenance& made_by) {
  RunConfig there = read_config({planned.folder});
  Recipe wanted = planned.run.recipe;
  if (is_shorter(there.recipe, wanted)) there.recipe.trainer.epochs = wanted.trainer.epochs;
  const Keys wanted_keys = keys_of(wanted);
  for (const Key& key : keys_of(there.recipe)) {
    const std::string its = value_text(key), ours = default_text(key, wanted_keys);
    check_input(its == ours,
                "{}: this run has {} = {}, and the sweep has {}: give another --out; only a larger number of "
                "epochs trains runs on",
                planned.folder.string(), key.name, its, ours);
  }
  check_input(is_same_data(there.made_by.sha256, made_by.sha256),
              "{}: has another text, {}, than this sweep with {}: give another --out",
              planned.folder.string(), name_of_text(there.made_by.data), name_of_text(made_by.data));
}

/// The settings of a recipe's data, and of its tasks.
std::string data_settings(Recipe recipe) {
  std::string text;
  for (const Key& key : keys_of(recipe))
    if (key.name.starts_with("data.") || key.name.starts_with("tasks."))
      text += key.name + " = " + value_text(key) + '\n';
  return text;
}

/// What a training would record of the data, and whether that has a test text. InputErrors of Task::open(),
/// such as for a folder that is not there.
std::pair<Provenance, bool> open_data(TrainOptions options, const SweepRun& run) {
  options.settings = run.settings;
  options.out = "";
  Setup setup(options);
  Task& task = setup.task();
  setup.place_data(options.data, task.reads_current_folder());
  Provenance& made_by = setup.config.made_by;
  task.open({.path = made_by.data});
  made_by.sha256 = sha256_lines(task.files());
  const std::vector<std::string> splits = task.measured_splits();
  return {made_by, std::find(splits.begin(), splits.end(), "test") != splits.end()};
}

/// The runs of a sweep. InputErrors of check_is_the_same() and open_data().
std::vector<PlannedRun> plan_runs(const SweepOptions& options) {
  std::vector<PlannedRun> planned;
  std::map<std::string, std::pair<Provenance, bool>> data;  // by its settings: each text is read once
  for (const SweepRun& run : runs_of_sweep(options.train.recipe, options.settings, options.seeds)) {
    const std::string settings = data_settings(run.recipe);
    if (!data.contains(settings)) data.emplace(settings, open_data(options.train, run));
    const auto& [made_by, has_test] = data.at(settings);
    planned.push_back({run, fs::path(options.train.out) / run.name, has_test});
    if (planned.back().is_there()) check_is_the_same(planned.back(), made_by);
  }
  return planned;
}

// --- Child process ---

/// A process of this program that trains a run.
struct Training {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::size_t index;  // of the run
  std::unique_ptr<std::FILE, Close> output{std::tmpfile()};
  Clock::time_point begin = Clock::now();
  pid_t process = -1;
};

/// Starts the process of a training, with the words of a command line. Its standard output and error go to a
/// file. A signal from the terminal does not reach it; if this process ends it gets SIGTERM. Error if it
/// cannot be started.
void start(Training& training, const std::vector<std::string>& words) {
  check_system(training.output != nullptr, "cannot make a temporary file");
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int output = fileno(training.output.get());
  const pid_t parent = getpid();
  training.process = fork();
  check_system(training.process >= 0, "cannot start another process");
  if (training.process > 0) return;
  // Only calls that are safe between fork() and exec() follow.
  setpgid(0, 0);  // its own group, or Ctrl-C would reach it twice
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(127);
  execv("/proc/self/exe", arguments.data());
  _exit(127);
}

/// The lines that it has printed so far. The position in the file is that of the process, too: pread() does
/// not move it.
std::vector<std::string> lines_of(const Training& training) {
  std::string text;
  char part[4096];
  for (ssize_t got = 1; got > 0; text.append(part, static_cast<std::size_t>(std::max<ssize_t>(got, 0))))
    got = pread(fileno(training.output.get()), part, sizeof part, static_cast<off_t>(text.size()));
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) lines.emplace_back(line);
  return lines;
}

// --- Sweep ---

class Sweep {
 public:
  Sweep(const SweepOptions& options, const std::vector<PlannedRun>& runs)
      : options_(options), runs_(runs), progress_(options.json ? stderr : stdout) {}

  /// The exit status.
  int train_all() {
    const StopSignals signals;
    for (bool stopping = false; next_ < runs_.size() || !running_.empty();) {
      while (!stopping && next_ < runs_.size() && std::ssize(running_) < options_.jobs) begin_next();
      if (running_.empty()) break;  // stopped, or nothing was left to do
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (signals.received() != 0 && !std::exchange(stopping, true))
        for (const Training& it : running_) kill(it.process, SIGINT);
      std::erase_if(running_, [&](const Training& it) {
        int status = 0;
        const bool has_ended = waitpid(it.process, &status, WNOHANG) == it.process;
        if (has_ended) conclude(it, status, stopping);
        return has_ended;
      });
      show_progress();
    }
    progress_.erase();
    const int signal = signals.received();
    if (signal != 0 || failed_ > 0)
      progress_.line(fmt::format("{}: {} of {} runs are finished, {} failed; to go on: {}",
                                 signal != 0 ? "stopped" : "not complete", finished_, runs_.size(), failed_,
                                 shell_command(options_.words)));
    return signal != 0 ? 128 + signal : failed_ > 0 ? 1 : 0;
  }

 private:
  std::string title_of(std::size_t index) const {
    return fmt::format("{} of {}  {}  ", index + 1, runs_.size(), runs_[index].folder.filename().string());
  }

  /// As a user would type it. `there` is the recipe of a run that is resumed.
  std::vector<std::string> words_of(const PlannedRun& planned, const std::optional<Recipe>& there) const {
    const TrainOptions& train = options_.train;
    std::vector<std::string> words{options_.words.front(), "train"};
    const auto add = [&](const std::string& flag, const std::string& value) {
      words.insert(words.end(), {flag, value});
    };
    if (!there) add("--recipe", train.recipe);
    if (!train.data.empty()) add("--data", train.data);
    add("--out", planned.folder.string());
    if (there) {
      words.emplace_back("--resume");
      const Recipe& recipe = planned.run.recipe;
      if (is_shorter(*there, recipe)) add("--epochs", fmt::format("{}", recipe.trainer.epochs));
    } else {
      for (const Setting& it : planned.run.settings) add("--set", fmt::format("{}={}", it.key, it.value));
    }
    if (train.device) add("--device", name_of(*train.device));
    if (train.precision) add("--precision", name_of(*train.precision));
    if (train.threads || options_.jobs > 1)
      add("--threads", fmt::format("{}", std::max(1, train.threads.value_or(threads()) / options_.jobs)));
    return words;
  }

  void begin_next() {
    const std::size_t index = next_++;
    const PlannedRun& planned = runs_[index];
    std::optional<Recipe> there;  // of a run in this folder
    if (planned.is_there()) {
      const RunRecord run = read_run(planned.folder.string());
      // It may have been killed between its training and its test.
      const bool is_complete = run.finished && (run.measured[test_kind] || !planned.has_test);
      if (is_complete && !is_shorter(run.recipe(), planned.run.recipe))
        return finish(index, run, "finished before");
      there = run.recipe();
    }
    if (!is_terminal(fileno(options_.json ? stderr : stdout)))  // a terminal has a progress line
      progress_.line(title_of(index) + (there ? "goes on" : "begins"));
    Training& training = running_.emplace_back(Training{.index = index});
    start(training, words_of(planned, there));
  }

  /// Shows each warning once, since most concern all runs, and then how the run has ended.
  void conclude(const Training& it, int status, bool stopping) {
    const std::vector<std::string> lines = lines_of(it);
    for (const std::string& line : lines)
      if (line.starts_with("lm: warning: ") && warned_.insert(line).second)
        progress_.line(title_of(it.index) + line);
    if (status == 0)
      finish(it.index, read_run(runs_[it.index].folder.string()),
             "in " + duration_text(seconds_since(it.begin)));
    else if (!stopping)
      fail(it.index, WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                     : lines.empty()     ? "no message"
                                         : lines.back());
  }
  void fail(std::size_t index, const std::string& why) {
    ++failed_;
    progress_.line(fmt::format("{}failed: {}", title_of(index), why));
  }
  /// Says what a run has found: "valid 3.0512 bits  test 3.0250 bits". It has failed if that is no number.
  void finish(std::size_t index, const RunRecord& run, const std::string& how) {
    const ScoreStyle score = decisive_score(run.recipe());
    const Runs alone{std::make_shared<const RunRecord>(run)};
    const auto& valid = run.measured[valid_kind];
    if (valid && valid->scores.contains(score.key) && !std::isfinite(valid->scores.at(score.key)))
      return fail(index,
                  fmt::format("{} on valid is not finite; {}", score.name, advice_after_divergence("train")));
    ++finished_;
    progress_.line(fmt::format("{0}valid {2} {1}  test {3} {1}  {4}", title_of(index), score.name,
                               score_cell(alone, valid_kind, score).text,
                               score_cell(alone, test_kind, score).text, how));
  }

  void show_progress() {
    if (!progress_.due()) return;
    std::vector<std::string> texts;
    for (const Training& it : running_)
      if (const std::vector<std::string> lines = lines_of(it); !lines.empty())
        texts.push_back(title_of(it.index) + lines.back());
    if (!texts.empty()) progress_.status(fmt::format("{}", fmt::join(texts, "  |  ")));
  }

  const SweepOptions& options_;
  const std::vector<PlannedRun>& runs_;
  Progress progress_;
  std::vector<Training> running_;
  std::set<std::string> warned_;
  std::size_t next_ = 0, finished_ = 0, failed_ = 0;
};

/// Prints a line for each run, then their table, and writes OUT/sweep.svg, their diagram. Returns 0, 1 if
/// runs have failed, or 128 + the signal that stopped it, once all running trainings have saved their state.
int sweep(const SweepOptions& options) {
  const fs::path out = options.train.out;
  check_input(!file_is_there(RunFolder{out}.config()),
              "--out {}: is a run; give the folder in which the sweep's runs are to be", out.string());
  check_input(!fs::exists(out) || fs::is_directory(out), "--out {}: is a file; give a folder", out.string());
  check_input(!fs::is_other(options.train.data),
              "--data {}: every run reads it anew: give a file or a folder", options.train.data);
  const std::vector<PlannedRun> planned = plan_runs(options);
  fs::create_directories(out);
  const FolderLock lock(out, "sweeps here");
  const fs::path drawn = out / "sweep.svg";
  file_to_write("--out", drawn.string());  // rather refused now than after the trainings
  const int status = Sweep(options, planned).train_all();
  std::vector<std::string> folders;
  for (const PlannedRun& it : planned)
    if (it.is_there()) folders.push_back(it.folder.string());
  const Runs runs = read_runs(folders).first;
  if (runs.empty()) return status;
  print_table(runs, {.json = options.json});
  if (const std::vector<Plot> plots = plots_of_sweep(runs); !plots.empty())
    write_atomically(drawn, svg_of(plots));
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
      "the end comes their table, which lm table FOLDER shows again; sweep.svg in --out draws it. Ctrl-C "
      "stops, and the same command continues: finished runs are kept, stopped ones resumed.");
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
  add_value(app, "--jobs", options->jobs, "N", integer(1, max_threads),
            "trainings at a time; they share the threads")
      ->capture_default_str();
  add_device(app, options->train);
  app.add_flag("--json", options->json, "print one JSON object; the progress goes to stderr");
  return {&app, [options, &line] {
            if (options->train.out.empty())  // the same folder at each call, so that the same command goes on
              options->train.out = fmt::format("runs/{}-sweep", load_recipe(options->train.recipe).name);
            options->words = line.words;
            return sweep(*options);
          }};
}

}  // namespace rondo
