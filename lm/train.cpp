// `lm train`. The loop is run_training(), on one screen; around it stand the set-up, the reports and the
// final figures.
#include "lm/train.h"

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "data/ngram.h"
#include "data/text.h"
#include "lm/evaluation.h"
#include "lm/files.h"
#include "lm/model.h"
#include "lm/progress.h"
#include "lm/recipes.h"
#include "lm/run.h"
#include "lm/sampling.h"
#include "lm/signals.h"
#include "lm/training.h"
#include "tensor/allocator.h"
#include "tensor/gemm.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The figure that a reader of this unit expects: perplexity for words, bits for the rest.
std::string figure_text(const Recipe& recipe, double nats) {
  return recipe.data.unit == "words" ? fmt::format("perplexity {:.2f}", std::exp(nats))
                                     : fmt::format("{:.4f} bits", nats / std::numbers::ln2);
}

/// What a training shows and logs.
class Report {
 public:
  Report(const Recipe& recipe, const RunFolder& run, int64_t log_position)
      : recipe_(recipe), log_(run.log(), log_position), progress_(stdout) {}

  void line(const std::string& text) { progress_.line(text); }
  int64_t sync() { return log_.sync(); }

  /// After each update: the progress line, and every log_every steps a line of log.jsonl.
  void update(const Training& training, const Training::Update& update) {
    nats_ += update.nats;
    symbols_ += update.symbols;
    if (progress_.due()) show(training);
    if (training.step() % recipe_.train.log_every != 0) return;
    const double seconds = seconds_since(window_start_);
    log_.append(Json{{"step", training.step()},
                     {"epoch", training.epoch()},
                     {"nats", nats_ / static_cast<double>(symbols_)},
                     {"learning_rate", training.learning_rate()},
                     {"gradient_norm", update.gradient_norm},
                     {"symbols_per_second", static_cast<double>(symbols_) / seconds}}
                    .dump());
    begin_window();
  }

  void validation(const Training& training, const Evaluation& it, bool best) {
    evaluation(
        fmt::format("epoch {:<4}", training.epoch()),
        {{"step", training.step()}, {"epoch", training.epoch()}, {"training_seconds", training.seconds()}},
        "valid", it, best);
  }
  void best_model(const std::string& split, const Evaluation& it) {
    evaluation("best model", {}, split, it, true);
  }

  /// For `what` is done with so many symbols.
  std::function<void(int64_t)> progress_of(const std::string& what, size_t symbols) {
    return [this, what, symbols](int64_t done) {
      progress_.status(fmt::format("{}  {:.0f}%", what, 100.0 * done / symbols));
    };
  }

 private:
  void show(const Training& training) {
    const double rate = static_cast<double>(symbols_) / seconds_since(window_start_);
    const double nats = nats_ / static_cast<double>(symbols_);
    const int64_t updates = training.updates_per_epoch();
    const int64_t left =
        (recipe_.train.epochs - training.epoch() + 1) * updates - training.updates_this_epoch();
    progress_.status(fmt::format("epoch {}/{}  {:.0f}%  loss {:.4f} nats  {}  {} symbols/s  {} left",
                                 training.epoch(), recipe_.train.epochs,
                                 100.0 * training.updates_this_epoch() / updates, nats,
                                 figure_text(recipe_, nats), short_number(rate),
                                 duration_text(left * training.symbols_per_epoch() / (updates * rate))));
  }
  void evaluation(const std::string& model, Json entry, const std::string& split, const Evaluation& it,
                  bool best) {
    line(fmt::format("{} {:<5} {:.4f} nats  {:.4f} bits  perplexity {:.2f}  {} symbols  {}{}", model, split,
                     it.nats(), it.bits(), it.perplexity(), it.symbols, duration_text(it.seconds),
                     best && split == "valid" ? "  best" : ""));
    entry.update({{"split", split},
                  {"nats", it.nats()},
                  {"bits", it.bits()},
                  {"perplexity", it.perplexity()},
                  {"symbols", it.symbols},
                  {"best", best},
                  {"seconds", it.seconds},
                  {"peak_bytes", memory_statistics(Device::cpu).peak_bytes}});
    log_.append(entry.dump());
    begin_window();
  }
  void begin_window() {
    nats_ = 0;
    symbols_ = 0;
    window_start_ = Clock::now();
  }

  const Recipe& recipe_;
  LineFile log_;
  Progress progress_;
  // Since the last line of the log:
  double nats_ = 0;
  int64_t symbols_ = 0;
  Clock::time_point window_start_ = Clock::now();
};

/// Evaluates, and keeps the weights if they are the best so far.
void evaluate_and_keep(Training& training, const Reading& reading, const Corpus& corpus, const RunFolder& run,
                       Report& report) {
  const Evaluation valid = evaluate_ids(training.model(), corpus.valid.ids, reading, {},
                                        report.progress_of("evaluating valid", corpus.valid.ids.size()));
  const bool best = training.validated(valid.nats());
  if (best) save_model(run.model(), training.model());
  report.validation(training, valid, best);
}

/// Says after a signal how to go on. Returns the exit status.
int stopped(const StopSignals& signals, const std::string& where, const RunFolder& run, Report& report) {
  const std::string folder = run.path.string();
  const std::array resume = {"lm", "train", "--out", folder.c_str(), "--resume"};
  report.line(fmt::format("stopped {}; to go on: {}", where, shell_command(resume.size(), resume.data())));
  return signals.exit_status();
}

/// The training loop. Returns 0, or the exit status of a signal.
int run_training(Training& training, const Recipe& recipe, const Reading& reading, const Corpus& corpus,
                 const RunFolder& run, const StopSignals& signals, Report& report) {
  auto saved = Clock::now();
  auto save = [&] {
    training.save(run.state(), report.sync());
    saved = Clock::now();
  };
  const auto stop = [&] {
    save();
    return stopped(signals, fmt::format("at step {}", training.step()), run, report);
  };
  save();  // a run that is killed from now on can go on
  Chunk chunk;
  while (!training.done()) {
    while (training.next_chunk(chunk)) {
      report.update(training, training.update(chunk));
      if (recipe.train.eval_every > 0 && training.step() % recipe.train.eval_every == 0) {
        evaluate_and_keep(training, reading, corpus, run, report);
        save();
        if (training.done()) return 0;
      } else if (recipe.train.save_every > 0 && seconds_since(saved) > 60 * recipe.train.save_every) {
        save();
      }
      if (signals.received()) return stop();
    }
    if (!training.is_validated()) evaluate_and_keep(training, reading, corpus, run, report);
    training.begin_next_epoch();
    save();
    if (signals.received()) return stop();
  }
  return 0;
}

/// Batch normalisation is tested with statistics of all the training text, not with the moving averages of
/// its last batches. Doing so again, after --resume of a finished run, gives the same file.
/// Returns whether the model has such statistics.
bool estimate_statistics(Training& training, const RunFolder& run,
                         const std::function<void(int64_t)>& progress, Report& report) {
  if (training.model().buffers().empty()) return false;
  const int64_t symbols = training.estimate_statistics(progress);
  save_model(run.model(), training.model());
  report.line(fmt::format("statistics re-estimated over {} training symbols", symbols));
  return true;
}

/// Thrown where a signal ends the final report, which leaves nothing half done.
struct Stopped {};

/// What a finished training says: the figures of the best model, baselines, a sample.
void final_report(Training& training, const Recipe& recipe, const Vocabulary& vocabulary,
                  const Corpus& corpus, const RunFolder& run, const StopSignals& signals, Report& report) {
  load_model(run.model(), training.model());
  const auto progress_of = [&](const std::string& what, size_t symbols) {
    return [&signals, show = report.progress_of(what, symbols)](int64_t done) {
      if (signals.received()) throw Stopped();
      show(done);
    };
  };
  const auto evaluate = [&](const std::string& split, const std::vector<int32_t>& ids) {
    const Evaluation it = evaluate_ids(training.model(), ids, reading_of(recipe, vocabulary), {},
                                       progress_of("evaluating " + split, ids.size()));
    report.best_model(split, it);
    return it.nats();
  };
  double best = training.best();
  if (estimate_statistics(training, run, progress_of("estimating statistics", corpus.train.ids.size()),
                          report))
    best = evaluate("valid", corpus.valid.ids);
  report.line(fmt::format("best on valid: {}", figure_text(recipe, best)));
  if (corpus.test) evaluate("test", corpus.test->ids);
  if (recipe.report.ngrams) {
    const NgramEntropy ngram = ngram_entropy(corpus.train.ids, corpus.valid.ids, vocabulary.size());
    report.line(fmt::format("on valid: model {:.3f}, bigram {:.3f}, unigram {:.3f} bits per symbol",
                            best / std::numbers::ln2, ngram.bigram / std::numbers::ln2,
                            ngram.unigram / std::numbers::ln2));
  }
  if (recipe.report.sample > 0) {
    report.line(fmt::format("a sample of {} symbols:", recipe.report.sample));
    Sampler sampler(training.model(), vocabulary, {.seed = static_cast<uint64_t>(recipe.train.seed)});
    for (int64_t i = 0; i < recipe.report.sample; ++i) fmt::print("{}", sampler.next());
    fmt::print("\n");
  }
  report.line(
      fmt::format("the run is {}; to sample from it: lm generate {}", run.path.string(), run.path.string()));
}

/// Where the text is, so that a later command finds it from any folder. With data.files it is this folder by
/// default.
std::string place_of(const std::string& data, const Recipe& recipe) {
  if (data.empty() && recipe.data.files.empty()) return data;
  return std::filesystem::absolute(data.empty() ? "." : data).lexically_normal().string();
}

}  // namespace

int train(const TrainOptions& options) {
  RunConfig config;
  RunFolder run;
  std::optional<FolderLock> lock;
  if (options.resume) {
    run = open_run_folder(options.out);
    lock.emplace(run.path);
    config = read_config(run);
    for (const Setting& setting : options.settings) apply_setting(setting, keys_of(config.recipe));
  } else {
    config.recipe = resolve_recipe(options.recipe, options.settings);
    check_new_run_folder(options.out);
  }
  const Recipe& recipe = config.recipe;
  // A resumed run keeps its threads, so that it ends with the same bits.
  const int threads =
      choose_device(options.device, options.resume && !options.threads
                                        ? std::optional(static_cast<int>(config.made_by.threads))
                                        : options.threads);
  if (!options.resume) config.made_by.data = place_of(options.data, recipe);
  const CorpusText text = open_text(recipe, config.made_by.data);
  const Vocabulary vocabulary = vocabulary_of(recipe, text);
  check_input(vocabulary.types() >= 2, "{}: one symbol only, nothing to predict", text.train.name);
  const Corpus corpus = encode_corpus(text, vocabulary);
  Training training(recipe, vocabulary.size(), corpus.train.ids, vocabulary.line_end_id());

  int64_t log_position = 0;
  if (options.resume) {
    check_input(config.made_by.sha256 == sha256_lines(text),
                "{}: the text has changed since this run was made; resuming would mix two texts",
                config.made_by.data);
    check_vocabulary(run, config.made_by, vocabulary.to_text());
    if (std::filesystem::exists(run.vocabulary()))
      check_vocabulary(run, config.made_by, read_file(run.vocabulary()));
    config.made_by.vocabulary = sha256_hex(vocabulary.to_text());
    // Killed before its first state, a run has no model either, and starts anew.
    if (std::filesystem::exists(run.state()) || std::filesystem::exists(run.model()))
      log_position = training.load(run.state());
    check_input(training.epoch() <= recipe.train.epochs + 1,
                "--epochs {}: this run has trained {} epochs already; give that many or more",
                recipe.train.epochs, training.epoch() - 1);
  } else {
    config.made_by = {RONDO_VERSION,
                      options.command,
                      options.device,
                      config.made_by.data,
                      threads,
                      sha256_lines(text),
                      sha256_hex(vocabulary.to_text())};
    run = make_run_folder(options.out, recipe.name);
    lock.emplace(run.path);
  }
  write_config(run, config);
  write_atomically(run.vocabulary(), vocabulary.to_text());
  Report report(recipe, run, log_position);
  for (const std::string& note : text.notes) report.line(note);
  report.line(fmt::format("{}: {} parameters, {} symbols of {} types, {} threads, {} kernels; the run is {}",
                          recipe.name, training.model().parameter_count(), corpus.train.ids.size(),
                          vocabulary.types(), threads, blas_kernel(), run.path.string()));
  if (options.resume && config.made_by.threads != threads)
    report.line(fmt::format("this run was made with {} threads, now there are {}: the last bits may differ",
                            config.made_by.threads, threads));
  const StopSignals signals;
  const int status =
      run_training(training, recipe, reading_of(recipe, vocabulary), corpus, run, signals, report);
  if (status != 0) return status;
  try {
    final_report(training, recipe, vocabulary, corpus, run, signals, report);
  } catch (const Stopped&) {
    return stopped(signals, "before all was evaluated", run, report);
  }
  return 0;
}

}  // namespace rondo
