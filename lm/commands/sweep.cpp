// `lm sweep`: trains every combination of settings with several seeds. Each run is one that `lm train` makes
// with these settings, by a process of its own, in a folder that is named after them. Finished runs are not
// trained again, and stopped ones are resumed. Next: lm/report/sweep.h.
#include "lm/report/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/files.h"
#include "data/input_file.h"
#include "lm/commands/options.h"
#include "lm/commands/training.h"
#include "lm/program/cli.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "tensor/check_system.h"
#include "tensor/threads.h"

namespace rondo {

// --- Child process ---

/// Its standard output and error are read together. A signal from the terminal does not reach it; if this
/// process dies it gets SIGTERM.
class ChildProcess {
 public:
  /// The words of a command line: the program's name, as it was typed, first. Error if it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& words);
  /// Stops it as Ctrl-C would, and waits.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// To be waited for by poll(): it is readable when something was printed, or the process has ended.
  int output() const { return output_; }
  /// Reads what it has printed so far; false at the end.
  bool read();
  /// What it printed last that is not empty.
  const std::string& last_line() const { return last_line_; }
  /// The warnings that it has printed since the last call.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }
  void stop(int signal);
  /// Waits for its end, after the end of its output: its exit status, or 128 + the signal that ended it.
  int wait();

 private:
  pid_t process_ = -1;
  int output_ = -1;
  std::string unfinished_, last_line_;
  std::vector<std::string> warnings_;
};

// --- Child process ---

ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  check_system(pipe2(ends, O_CLOEXEC) == 0, "cannot make a pipe");
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {  // only calls that are safe between fork() and exec()
    setpgid(0, 0);      // its own group, or Ctrl-C would reach it twice
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(ends[1], 1) < 0 || dup2(ends[1], 2) < 0) _exit(127);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
  check_system(process_ > 0, "cannot start another process");
  fcntl(output_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  close(output_);  // first, or it might wait for somebody to read
  if (process_ <= 0) return;
  stop(SIGINT);
  wait();
}

bool ChildProcess::read() {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(output_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN;
    unfinished_.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end = unfinished_.find('\n'); end != std::string::npos; end = unfinished_.find('\n')) {
      if (end > 0) {
        last_line_ = unfinished_.substr(0, end);
        if (last_line_.starts_with("lm: warning: ")) warnings_.push_back(last_line_);
      }
      unfinished_.erase(0, end + 1);
    }
  }
}

void ChildProcess::stop(int signal) { kill(process_, signal); }

int ChildProcess::wait() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// --- Sweep ---

namespace {

struct SweepOptions {
  std::string recipe;  // a name or a file
  std::string data;    // as in TrainOptions
  std::string out;     // the folder of the runs; empty: runs/RECIPE-sweep
  std::vector<SweptSettings> settings;
  std::optional<int64_t> seeds;  // none: one
  int jobs = 1;                  // runs at a time
  std::optional<int> threads;    // of all of them together; none: threads.h
  std::optional<Device> device{};

  std::optional<Precision> precision{};
  bool json = false;
  SweepPlotOptions drawn{};
  std::vector<std::string> words;  // of the command line
};

namespace fs = std::filesystem;

/// Whether a run can be trained on until it is as long as the sweep wants it. By epochs: after `--steps` a
/// run is evaluated where a longer one is not, and the evaluation may change its learning rate.
bool is_shorter(const Recipe& there, const Recipe& planned) {
  const TrainerOptions &before = there.trainer, &now = planned.trainer;
  return before.steps == 0 && now.steps == 0 && now.epochs > before.epochs;
}

/// InputError if the run in `folder` has other settings than the sweep would give it, except that it may be
/// shorter.
void check_same_settings(const RunFolder& folder, const Recipe& expected) {
  Recipe there = read_config(folder).recipe, planned = expected;
  const auto length_of = [](const Recipe& recipe) {
    const TrainerOptions& it = recipe.trainer;
    return it.steps > 0 ? counted_text(it.steps, "steps") : counted_text(it.epochs, "epochs");
  };
  check_input(is_shorter(there, planned) || length_of(there) == length_of(planned),
              "{}: this run is one of {}, and those of the sweep have {}: give another --out; only a larger "
              "number of epochs trains runs on",
              folder.path.string(), length_of(there), length_of(planned));
  there.trainer.epochs = planned.trainer.epochs;
  const Keys of_there = keys_of(there), of_planned = keys_of(planned);
  for (std::size_t i = 0; i < std::min(of_there.size(), of_planned.size()); ++i)
    check_input(
        of_there[i].name == of_planned[i].name && value_text(of_there[i]) == value_text(of_planned[i]),
        "{}: this run has {} = {}, and the sweep {} = {}: give another --out", folder.path.string(),
        of_there[i].name, value_text(of_there[i]), of_planned[i].name, value_text(of_planned[i]));
}

/// What a training with the sweep's data would record. InputErrors of Task::open(), such as for a folder that
/// is not there.
Provenance provenance_of(const SweepOptions& options, const SweepRun& run) {
  TrainOptions training;
  training.recipe = options.recipe;
  training.settings = run.settings;
  training.data = options.data;
  Setup setup(training);
  Task& task = setup.task();
  setup.place_data(options.data, task.reads_current_folder());
  Provenance& made_by = setup.config.made_by;
  task.open({.path = made_by.data});
  made_by.sha256 = sha256_lines(task.files());
  return made_by;
}

/// Before anything is trained: InputError if the runs that are in the sweep's folder already are of another
/// recipe or text, if their settings are not those of the sweep, or if the report could not be drawn.
void check_beside_others(const SweepOptions& options, const std::vector<SweepRun>& runs) {
  const fs::path out = options.out;
  Runs all;
  const auto add = [&](const std::string& path, RunConfig config) {
    all.push_back(std::make_shared<const RunRecord>(RunRecord{.path = path, .config = std::move(config)}));
  };
  std::map<std::string, Provenance> texts;  // by the settings of data: each text is read once
  for (const SweepRun& run : runs) {
    const auto [text, is_new] = texts.try_emplace(data_settings(run.recipe));
    if (is_new) text->second = provenance_of(options, run);
    add("this sweep", {run.recipe, text->second});
  }
  for (const fs::path& other : runs_in(out)) {
    add(other.string(), read_config({other}));
    check_input(all.back()->recipe().name == runs.front().recipe.name,
                "{}: is a run of the recipe {}, and the sweep's is {}: give another --out", other.string(),
                all.back()->recipe().name, runs.front().recipe.name);
  }
  for (const SweepRun& run : runs)
    if (file_is_there(RunFolder{out / run.name}.config())) check_same_settings({out / run.name}, run.recipe);
  check_plot(all, options.drawn);
  check_same_texts(all, "give another --out");
}

class Sweep {
 public:
  Sweep(const SweepOptions& options, std::vector<SweepRun> runs)
      : options_(options), runs_(std::move(runs)), progress_(options.json ? stderr : stdout) {}

  /// The exit status.
  int train_all() {
    const StopSignals signals;
    while (next_ < runs_.size() || !running_.empty()) {
      while (signals.received() == 0 && next_ < runs_.size() && std::ssize(running_) < options_.jobs)
        begin_next();
      if (running_.empty()) break;  // stopped, or nothing was left to do
      wait_for_output();
      if (signals.received() != 0 && !stopping_) {
        stopping_ = true;
        for (const Running& it : running_) it.process->stop(SIGINT);
      }
      std::erase_if(running_, [&](const Running& it) {
        const bool goes_on = it.process->read();
        relay_warnings(it);
        if (!goes_on) conclude(it);
        return !goes_on;
      });
      show_progress();
    }
    progress_.erase();
    if (const int signal = signals.received()) {
      progress_.line(fmt::format("stopped: {} of {} runs are finished; to go on: {}", finished_, runs_.size(),
                                 shell_command(options_.words)));
      return 128 + signal;
    }
    if (failed_ > 0)
      progress_.line(fmt::format("{} of {} runs failed; to try them again: {}", failed_, runs_.size(),
                                 shell_command(options_.words)));
    return failed_ > 0 ? 1 : 0;
  }

 private:
  mutable std::map<std::vector<std::string>, bool> has_test_;  // by the digests of a text

  struct Running {
    std::size_t index;
    std::unique_ptr<ChildProcess> process;
    Clock::time_point begin;
  };

  fs::path folder_of(const SweepRun& run) const { return fs::path(options_.out) / run.name; }
  std::string title_of(std::size_t index) const {
    return fmt::format("{} of {}  {}", index + 1, runs_.size(), runs_[index].name);
  }

  /// As a user would type it.
  std::vector<std::string> words_of(const SweepRun& run, const std::optional<Recipe>& there) const {
    std::vector<std::string> words = {options_.words.front(), "train"};
    const auto add = [&](const char* flag, const std::string& value) {
      words.emplace_back(flag), words.push_back(value);
    };
    if (!there) add("--recipe", options_.recipe);
    if (!options_.data.empty()) add("--data", options_.data);
    add("--out", folder_of(run).string());
    if (there) {
      words.emplace_back("--resume");
      if (is_shorter(*there, run.recipe)) add("--epochs", fmt::format("{}", run.recipe.trainer.epochs));
    } else {
      for (const Setting& it : run.settings) add("--set", fmt::format("{}={}", it.key, it.value));
      add("--seed", fmt::format("{}", run.seed));
    }
    if (options_.device) add("--device", name_of(*options_.device));
    if (options_.precision) add("--precision", name_of(*options_.precision));
    if (options_.threads || options_.jobs > 1)
      add("--threads", fmt::format("{}", std::max(1, options_.threads.value_or(threads()) / options_.jobs)));
    return words;
  }

  void begin_next() {
    const std::size_t index = next_++;
    const fs::path folder = folder_of(runs_[index]);
    std::optional<Recipe> there;  // of a run in this folder
    if (file_is_there(RunFolder{folder}.config())) {
      const std::optional<RunRecord> measured = measured_or_failed(index);
      if (!measured) return;
      there = measured->recipe();
      if (is_complete(*measured) && !is_shorter(*there, runs_[index].recipe)) {
        ++finished_;
        return progress_.line(fmt::format("{}  {}  finished before", title_of(index), found_text(*measured)));
      }
    } else if (const std::optional<RunRecord> twin = finished_twin(runs_[index])) {
      ++finished_;
      return progress_.line(fmt::format("{}  {}  finished before, as {}", title_of(index), found_text(*twin),
                                        fs::path(twin->path).filename().string()));
    }
    if (!is_terminal(fileno(options_.json ? stderr : stdout)))  // a terminal has a progress line
      progress_.line(fmt::format("{}  {}", title_of(index), there ? "goes on" : "begins"));
    running_.push_back({index, std::make_unique<ChildProcess>(words_of(runs_[index], there)), Clock::now()});
  }

  /// A finished run with these settings that an earlier sweep named after other ones; computed in the same
  /// way, on the same text, as all runs of the folder are.
  std::optional<RunRecord> finished_twin(const SweepRun& planned) const {
    Recipe recipe = planned.recipe;
    const std::string settings = write_toml(keys_of(recipe));
    for (const fs::path& other : runs_in(options_.out)) {
      RunConfig config = read_config({other});
      if (write_toml(keys_of(config.recipe)) != settings ||
          config.made_by.device != options_.device.value_or(Device::cpu) ||
          config.made_by.precision != options_.precision.value_or(Precision::fp32))
        continue;
      if (RunRecord run = read_run(other.string()); is_complete(run)) return run;
    }
    return std::nullopt;
  }

  /// Whether a run has nothing left to do: it may have been killed between its training and its test.
  bool is_complete(const RunRecord& run) const {
    if (!run.finished || run.measured[test_kind]) return run.finished;
    const Provenance& made_by = run.config.made_by;
    if (!has_test_.contains(made_by.sha256)) {
      run.recipe().task->open({.path = made_by.data});
      const std::vector<std::string> splits = run.recipe().task->measured_splits();
      has_test_[made_by.sha256] = std::find(splits.begin(), splits.end(), "test") != splits.end();
    }
    return !has_test_[made_by.sha256];
  }

  void wait_for_output() const {
    std::vector<pollfd> files;
    for (const Running& it : running_) files.push_back({it.process->output(), POLLIN, 0});
    constexpr int milliseconds = 500;
    poll(files.data(), files.size(), milliseconds);  // a signal ends it
  }

  /// Each text once, since most concern all runs.
  void relay_warnings(const Running& it) {
    for (const std::string& warning : it.process->take_warnings())
      if (warned_.insert(warning).second) progress_.line(fmt::format("{}  {}", title_of(it.index), warning));
  }

  void conclude(const Running& it) {
    const int status = it.process->wait();
    if (status == 0) {
      if (const std::optional<RunRecord> measured = measured_or_failed(it.index)) {
        ++finished_;
        progress_.line(fmt::format("{}  {}  in {}", title_of(it.index), found_text(*measured),
                                   duration_text(seconds_since(it.begin))));
      }
    } else if (!stopping_) {
      const std::string& line = it.process->last_line();
      constexpr std::string_view program = "lm: ";
      fail(it.index, status > 128                ? fmt::format("ended by signal {}", status - 128)
                     : line.starts_with(program) ? line.substr(program.size())
                                                 : line);
    }
  }
  void fail(std::size_t index, const std::string& why) {
    ++failed_;
    progress_.line(fmt::format("{}  failed: {}", title_of(index), why));
  }
  /// None, and the run has failed, if its files cannot be read, or if the figure that decides is no number.
  std::optional<RunRecord> measured_or_failed(std::size_t index) {
    try {
      RunRecord run = read_run(folder_of(runs_[index]).string());
      const ScoreStyle score = decisive_score(run.recipe());
      const std::optional<Measured>& valid = run.measured[valid_kind];
      const bool is_measured = valid && valid->scores.contains(score.key);
      check_input(!is_measured || std::isfinite(score_in(valid->scores, score.key)),
                  "{}: {} on valid is not finite; {}", run.path, score.name,
                  advice_after_divergence("train"));
      return run;
    } catch (const InputError& error) {
      fail(index, error.what());
      return std::nullopt;
    }
  }

  static std::string found_text(const RunRecord& run) {
    const ScoreStyle score = decisive_score(run.recipe());
    std::vector<std::string> texts;
    for (const std::size_t kind : {valid_kind, test_kind})
      texts.push_back(fmt::format("{} {} {}", kinds_of_measurement[kind].name,
                                  score_cell({std::make_shared<const RunRecord>(run)}, kind, score).text,
                                  score.name));
    return fmt::format("{}", fmt::join(texts, "  "));
  }

  void show_progress() {
    if (!progress_.due()) return;
    std::vector<std::string> texts;
    for (const Running& it : running_)
      if (const std::string& line = it.process->last_line(); !line.empty())
        texts.push_back(fmt::format("{}  {}", title_of(it.index), line));
    if (!texts.empty()) progress_.status(fmt::format("{}", fmt::join(texts, "  |  ")));
  }

  const SweepOptions& options_;
  std::vector<SweepRun> runs_;
  Progress progress_;
  std::vector<Running> running_;
  std::set<std::string> warned_;
  std::size_t next_ = 0, finished_ = 0, failed_ = 0;
  bool stopping_ = false;
};

/// Prints a line for each run, then the report, and writes the diagram to OUT/sweep.svg. Returns 0, 1 if runs
/// have failed, or 128 + the signal that stopped it, once all running trainings have saved their state.
int sweep(const SweepOptions& given) {
  std::vector<SweepRun> runs = runs_of_sweep(given.recipe, given.settings, given.seeds);
  SweepOptions options = given;
  // The same one at each call, so that the same command goes on.
  if (options.out.empty()) options.out = (fs::path("runs") / (runs.front().recipe.name + "-sweep")).string();
  const fs::path out = options.out;
  check_input(!file_is_there(RunFolder{out}.config()),
              "--out {}: is a run; give the folder in which the sweep's runs are to be", out.string());
  check_input(!fs::exists(out) || fs::is_directory(out), "--out {}: is a file; give a folder", out.string());
  check_input(options.data.empty() || fs::exists(options.data), "--data {}: there is no such file or folder",
              options.data);
  check_input(!fs::is_other(options.data), "--data {}: every run reads it anew: give a file or a folder",
              options.data);
  check_beside_others(options, runs);
  std::error_code error;
  fs::create_directories(out, error);
  check(!error, "cannot make the folder {}: {}", out.string(), error.message());
  const FolderLock lock(out, "sweeps here");
  const std::string plot = (out / "sweep.svg").string();
  file_to_write("--out", plot);  // rather refused now than after the trainings
  const int status = Sweep(options, std::move(runs)).train_all();
  if (holds_runs(out))
    print_sweep(out, {.json = options.json, .plot = plot, .plot_option = "--out", .drawn = options.drawn});
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
      "the end comes a table: mean and standard deviation over seeds, and the best on valid; and sweep.svg "
      "in "
      "--out shows it. Ctrl-C stops, and the same command continues: finished runs are kept, stopped ones "
      "resumed. lm table FOLDER shows the table again.");
  add_text(app, "--recipe", options.recipe, "NAME|FILE", "a name from `lm recipes`, or a TOML file");
  add_text(app, "--data", options.data, "DIR|FILE", data_text);
  add_text(app, "--out", options.out, "FOLDER",
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
  add_device(app, options);
  app.add_flag("--json", options.json, "print one JSON object; the progress goes to stderr");
  return {&app, [words, &line] {
            SweepOptions& given = words->options;
            check_input(!given.recipe.empty(),
                        "sweep: no recipe given; `{} recipes` lists them, as in --recipe char-lstm",
                        this_program());
            for (const std::string& text : words->sets) given.settings.push_back(parse_swept(text));
            for (const auto& [flag, value] :
                 {std::pair{"epochs", words->epochs}, std::pair{"steps", words->steps}})
              if (!value.empty())
                given.settings.push_back(
                    {fmt::format("--{} {}", flag, value), {fmt::format("train.{}", flag)}, {{value}}});
            given.words = line.words;
            return sweep(given);
          }};
}

}  // namespace rondo
