// `lm sweep`: trains every combination of settings with several seeds. Each run is one that `lm train` makes
// with these settings, by a process of its own, in a folder that is named after them. Finished runs are not
// trained again, and stopped ones are resumed. Next: lm/report/sweep.h.
#include "lm/report/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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
  TrainOptions train{};  // of all runs; `out` is the folder of the runs, empty: runs/RECIPE-sweep
  std::vector<SweptSettings> settings{};
  std::optional<std::int64_t> seeds{};  // none: one
  int jobs = 1;                         // runs at a time, which share the threads
  bool json = false;
  SweepPlotOptions drawn{};
  std::vector<std::string> words{};  // of the command line
};

struct PlannedRun {
  SweepRun run;
  fs::path folder;
  bool has_test = false;  // whether a model is measured on a test text at the end
};

/// Whether a run can be trained on until it is as long as the sweep wants it. By epochs: after `--steps` a
/// run is evaluated where a longer one is not, and the evaluation may change its learning rate.
bool is_shorter(const Recipe& there, const Recipe& planned) {
  const TrainerOptions &before = there.trainer, &now = planned.trainer;
  return before.steps == 0 && now.steps == 0 && now.epochs > before.epochs;
}

/// InputError if the run in `folder` has other settings than the sweep would give it, except that it may be
/// shorter.
void check_same_settings(const fs::path& folder, Recipe there, Recipe planned) {
  if (is_shorter(there, planned)) there.trainer.epochs = planned.trainer.epochs;
  const Keys of_there = keys_of(there), of_planned = keys_of(planned);
  for (std::size_t i = 0; i < std::min(of_there.size(), of_planned.size()); ++i) {
    const Key &its = of_there[i], &ours = of_planned[i];
    check_input(its.name == ours.name && value_text(its) == value_text(ours),
                "{}: this run has {} = {}, and the sweep {} = {}: give another --out; only a larger number "
                "of epochs trains runs on",
                folder.string(), its.name, value_text(its), ours.name, value_text(ours));
  }
}

/// What a training would record of the data, and whether that has a test text.
using SweepData = std::pair<Provenance, bool>;

/// InputErrors of Task::open(), such as for a folder that is not there.
SweepData open_data(TrainOptions options, const SweepRun& run) {
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

/// The settings of a recipe's section [data], and of its tasks.
std::string data_settings(Recipe recipe) {
  std::string text;
  for (const Key& key : keys_of(recipe))
    if (key.name.starts_with("data.") || key.name.starts_with("tasks."))
      text += key.name + " = " + value_text(key) + '\n';
  return text;
}

/// The runs of a sweep: each in its folder, or in that of a run with the same settings which an earlier sweep
/// has named after other ones. InputError if a run that is there has other settings or another text, or if
/// the diagram could not be drawn.
std::vector<PlannedRun> plan_runs(const SweepOptions& options) {
  const fs::path out = options.train.out;
  Runs all;
  const auto add = [&](const std::string& path, const RunConfig& config) {
    all.push_back(std::make_shared<const RunRecord>(RunRecord{.path = path, .config = config}));
  };
  std::map<std::string, fs::path> there;  // by the settings
  for (const fs::path& folder : runs_in(out)) {
    RunConfig config = read_config({folder});
    add(folder.string(), config);
    if (config.made_by.device == options.train.device.value_or(Device::cpu) &&
        config.made_by.precision == options.train.precision.value_or(Precision::fp32))
      there.emplace(write_toml(keys_of(config.recipe)), folder);
  }
  std::vector<PlannedRun> planned;
  std::map<std::string, SweepData> data;  // by the settings of the data: each text is read once
  for (SweepRun& run : runs_of_sweep(options.train.recipe, options.settings, options.seeds)) {
    const std::string settings = data_settings(run.recipe);
    if (!data.contains(settings)) data.emplace(settings, open_data(options.train, run));
    const auto& [made_by, has_test] = data.at(settings);
    fs::path folder = out / run.name;
    const auto same = there.find(write_toml(keys_of(run.recipe)));
    if (!fs::exists(folder) && same != there.end()) folder = same->second;
    if (file_is_there(RunFolder{folder}.config())) {
      const RunConfig config = read_config({folder});
      check_same_settings(folder, config.recipe, run.recipe);
      check_input(is_same_data(config.made_by.sha256, made_by.sha256),
                  "{}: has another text, {}, than this sweep with {}: give another --out", folder.string(),
                  name_of_text(config.made_by.data), name_of_text(made_by.data));
    }
    add("this sweep", {run.recipe, made_by});
    planned.push_back({std::move(run), std::move(folder), has_test});
  }
  check_sweep_plot(all, options.drawn);
  return planned;
}

// --- Child process ---

/// A process of this program. Its standard output and error go to a file. A signal from the terminal does not
/// reach it; if this process ends it gets SIGTERM.
class ChildProcess {
 public:
  /// The words of a command line: the program's name, as it was typed, first. Error if it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& words);

  void stop() const { kill(process_, SIGINT); }
  /// Its exit status, or 128 + the signal that ended it; none: it goes on.
  std::optional<int> status() const;
  /// The lines that it has printed so far.
  std::vector<std::string> lines() const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> output_{std::tmpfile()};
  pid_t process_ = -1;
};

ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  check_system(output_ != nullptr, "cannot make a temporary file");
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int output = fileno(output_.get());
  const pid_t parent = getpid();
  process_ = fork();
  check_system(process_ >= 0, "cannot start another process");
  if (process_ > 0) return;
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

std::optional<int> ChildProcess::status() const {
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> ChildProcess::lines() const {
  struct stat file {};
  fstat(fileno(output_.get()), &file);
  std::string text(static_cast<std::size_t>(file.st_size), '\0');
  // The position in the file is that of the process, too: pread() does not move it.
  const ssize_t got = pread(fileno(output_.get()), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) lines.emplace_back(line);
  return lines;
}

// --- Sweep ---

class Sweep {
 public:
  Sweep(const SweepOptions& options, std::vector<PlannedRun> runs)
      : options_(options), runs_(std::move(runs)), progress_(options.json ? stderr : stdout) {}

  /// The exit status.
  int train_all() {
    const StopSignals signals;
    for (bool stopping = false; next_ < runs_.size() || !running_.empty();) {
      while (!stopping && next_ < runs_.size() && std::ssize(running_) < options_.jobs) begin_next();
      if (running_.empty()) break;  // stopped, or nothing was left to do
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (signals.received() != 0 && !std::exchange(stopping, true))
        for (const Running& it : running_) it.process.stop();
      std::erase_if(running_, [&](const Running& it) {
        const std::optional<int> status = it.process.status();
        if (status) conclude(it, *status, stopping);
        return status.has_value();
      });
      show_progress();
    }
    progress_.erase();
    const std::string again = shell_command(options_.words);
    if (const int signal = signals.received()) {
      progress_.line(
          fmt::format("stopped: {} of {} runs are finished; to go on: {}", finished_, runs_.size(), again));
      return 128 + signal;
    }
    if (failed_ > 0)
      progress_.line(
          fmt::format("{} of {} runs failed; to try them again: {}", failed_, runs_.size(), again));
    return failed_ > 0 ? 1 : 0;
  }

 private:
  struct Running {
    std::size_t index;
    ChildProcess process;
    Clock::time_point begin;
  };

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
    if (file_is_there(RunFolder{planned.folder}.config())) {
      const RunRecord run = read_run(planned.folder.string());
      // It may have been killed between its training and its test.
      const bool is_complete = run.finished && (run.measured[test_kind] || !planned.has_test);
      if (is_complete && !is_shorter(run.recipe(), planned.run.recipe))
        return finish(index, run, "finished before");
      there = run.recipe();
    }
    if (!is_terminal(fileno(options_.json ? stderr : stdout)))  // a terminal has a progress line
      progress_.line(title_of(index) + (there ? "goes on" : "begins"));
    running_.push_back({index, ChildProcess(words_of(planned, there)), Clock::now()});
  }

  /// Shows each warning once, since most concern all runs, and then how the run has ended.
  void conclude(const Running& it, int status, bool stopping) {
    const std::vector<std::string> lines = it.process.lines();
    for (const std::string& line : lines)
      if (line.starts_with("lm: warning: ") && warned_.insert(line).second)
        progress_.line(title_of(it.index) + line);
    if (status == 0) {
      finish(it.index, read_run(runs_[it.index].folder.string()),
             "in " + duration_text(seconds_since(it.begin)));
    } else if (!stopping) {
      const std::string why = status > 128 ? fmt::format("signal {}", status - 128) : "no message";
      fail(it.index, status > 128 || lines.empty() ? why : lines.back());
    }
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
    for (const Running& it : running_)
      if (const std::vector<std::string> lines = it.process.lines(); !lines.empty())
        texts.push_back(title_of(it.index) + lines.back());
    if (!texts.empty()) progress_.status(fmt::format("{}", fmt::join(texts, "  |  ")));
  }

  const SweepOptions& options_;
  std::vector<PlannedRun> runs_;
  Progress progress_;
  std::vector<Running> running_;
  std::set<std::string> warned_;
  std::size_t next_ = 0, finished_ = 0, failed_ = 0;
};

/// Prints a line for each run, then their table, and writes the diagram to OUT/sweep.svg. Returns 0, 1 if
/// runs have failed, or 128 + the signal that stopped it, once all running trainings have saved their state.
int sweep(const SweepOptions& options) {
  const fs::path out = options.train.out;
  check_input(!file_is_there(RunFolder{out}.config()),
              "--out {}: is a run; give the folder in which the sweep's runs are to be", out.string());
  check_input(!fs::exists(out) || fs::is_directory(out), "--out {}: is a file; give a folder", out.string());
  check_input(!fs::is_other(options.train.data),
              "--data {}: every run reads it anew: give a file or a folder", options.train.data);
  std::vector<PlannedRun> planned = plan_runs(options);
  fs::create_directories(out);
  const FolderLock lock(out, "sweeps here");
  const std::string plot = (out / "sweep.svg").string();
  file_to_write("--out", plot);  // rather refused now than after the trainings
  const int status = Sweep(options, std::move(planned)).train_all();
  if (!holds_runs(out)) return status;
  const Runs runs = read_runs({out.string()}).first;
  write_sweep_plot("--out", plot, runs, options.drawn);
  print_table(runs, {.json = options.json});
  return status;
}

}  // namespace

Command add_sweep(CommandLine& line) {
  struct Words {
    SweepOptions options;
    std::vector<std::string> sets;
    std::string epochs, steps;  // texts, because they become settings
  };
  const auto words = std::make_shared<Words>();
  SweepOptions& options = words->options;
  CLI::App& app = add_command(
      line, "sweep", "train every combination of settings, with several seeds",
      "lm sweep --recipe char-lstm --data book.txt --epochs 5 --set model.hidden=128,256,512 --seeds 3 --out "
      "runs/sizes",
      "Each run is that of lm train with these settings, in a folder of --out that is named after them. At "
      "the end comes their table, which lm table FOLDER shows again; sweep.svg in --out draws it. Ctrl-C "
      "stops, and the same command continues: finished runs are kept, stopped ones resumed.");
  add_text(app, "--recipe", options.train.recipe, "NAME|FILE", "a name from `lm recipes`, or a TOML file");
  add_text(app, "--data", options.train.data, "DIR|FILE", data_text);
  add_text(app, "--out", options.train.out, "FOLDER",
           "the folder to make, or to continue in (default: runs/RECIPE-sweep)");
  add_list(app, "--set", words->sets, "KEY=VALUE,...",
           "a setting with one or several values, can be repeated; a list is a value in [ ]. Settings that "
           "vary together: --set model.hidden:model.dropout=650:0.5,1500:0.65");
  add_text(app, "--epochs", words->epochs, "N",
           "times that each run reads the training text (default: the recipe's)");
  add_steps(app, words->steps);
  add_value(app, "--seeds", options.seeds, "N", integer(1, 10000),
            "runs of each setting, from train.seed on (default: 1)");
  add_value(app, "--jobs", options.jobs, "N", integer(1, max_threads),
            "trainings at a time; they share the threads")
      ->capture_default_str();
  add_sweep_plot(app, options.drawn);
  add_device(app, options.train);
  app.add_flag("--json", options.json, "print one JSON object; the progress goes to stderr");
  return {&app, [words, &line] {
            SweepOptions& given = words->options;
            check_input(!given.train.recipe.empty(),
                        "sweep: no recipe given; `{} recipes` lists them, as in --recipe char-lstm",
                        this_program());
            // The same folder at each call, so that the same command goes on.
            if (given.train.out.empty())
              given.train.out = fmt::format("runs/{}-sweep", load_recipe(given.train.recipe).name);
            for (const std::string& text : words->sets) given.settings.push_back(parse_swept(text));
            const auto add = [&](const std::string& flag, const std::string& value) {
              const std::string where = fmt::format("--{} {}", flag, value);
              if (!value.empty()) given.settings.push_back({where, {"train." + flag}, {{value}}});
            };
            add("epochs", words->epochs);
            add("steps", words->steps);
            given.words = line.words;
            return sweep(given);
          }};
}

}  // namespace rondo
