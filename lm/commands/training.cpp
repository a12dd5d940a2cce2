// A training. The loop is RunningTraining::train(); after it comes measure_best(). What precedes it:
// train.cpp. The report of a training: lm/program/log.h.
#include "lm/commands/training.h"

#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <span>

#include "data/ngram/kneser_ney.h"
#include "data/ngram/ngram_model.h"
#include "data/text/text.h"
#include "lm/decoding/sampling.h"
#include "lm/program/cli.h"
#include "lm/program/recipe.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/tasks/skip_thought.h"
#include "lm/training/checkpoint.h"

namespace rondo {

namespace {

/// The model's `nats` on the validation text beside those of an n-gram model, which is scored on the same
/// symbols: all except the first.
std::string beside_ngrams(double nats, LanguageModellingTask& task) {
  constexpr int order = 5;
  const Vocabulary& vocabulary = task.vocabulary();
  const std::span<const int32_t> train = task.encoded("train").ids, valid = task.encoded("valid").ids;
  const auto line_end = vocabulary.line_end_id();
  const NgramModel kneser_ney_model = kneser_ney(train, vocabulary.size(), line_end, order).model;
  const std::vector<double> log_p = log_probabilities(kneser_ney_model, valid, line_end);
  const double sum = std::accumulate(log_p.begin() + 1, log_p.end(), 0.0);
  const auto bits = [](double it) { return it / std::numbers::ln2; };
  return fmt::format("on valid: model {:.3f}, Kneser-Ney of order {} {:.3f} bits per symbol", bits(nats),
                     order, bits(-sum / static_cast<double>(log_p.size() - 1)));
}

/// A training on its way: where it reports, and the signals that stop it.
struct RunningTraining {
  const PreparedTraining& training;
  TrainingReport& report;
  const StopSignals& signals;
  Trainer& trainer = *training.trainer;
  Task& task = training.task();
  const RunFolder& run = training.run;
  Clock::time_point saved = Clock::now();

  /// Shows the progress of `what`, and throws Stopped after a signal.
  ReportDone progress_of(const std::string& what, int64_t items) const {
    return [this, show = report.progress_of(what, items)](int64_t done) {
      signals.throw_if_received();
      show(done);
    };
  }
  ProgressOf progress() const {
    return [this](const std::string& what, int64_t items) { return progress_of(what, items); };
  }

  void report_metrics() { report.updated(trainer, trainer.metrics()); }
  void save() {
    restore_setup(training, report);
    report_metrics();
    trainer.save(run.state(), report.sync());
    saved = Clock::now();
  }

  Scores evaluate_valid() {
    return training.objective->evaluate(progress_of("evaluating valid", task.validation_size()));
  }
  /// Evaluates the trained model that a training begins with: the result must be better.
  void evaluate_base() {
    const Scores scores = evaluate_valid();
    trainer.set_baseline(scores);
    report.began_with(scores);
  }
  /// Evaluates the weights, or their average once averaging has started, reports it, and saves them if they
  /// are the best so far. If a signal ends it, the training is unchanged.
  void evaluate() {
    report_metrics();
    const bool averaged = trainer.averages();
    const auto evaluated = trainer.evaluated_weights();
    const Scores scores = evaluate_valid();
    const bool best = trainer.validated(scores);
    if (best) save_model(run.model(), *training.model);
    report.validated(trainer, scores, best);
    if (training.recipe().language_modelling())
      report.warn(warning_of_cost(scores.at("nats"), task.vocabulary().size()));
    if (trainer.averages() && !averaged)
      report.line("validation no longer falls: from now on the average of the weights is evaluated and kept");
  }
  void probe(int64_t epochs) {
    const int64_t every = training.recipe().run.probe_every;
    if (every == 0 || epochs % every != 0) return;
    const auto evaluated = trainer.evaluated_weights();
    const ProbeOptions how = task.probe_options();
    report.probed(trainer, epochs,
                  task.probe(*training.model, "train", how, progress_of("probing", how.sequences)));
  }
  void measure_sentences() {
    const auto* skip_thought = dynamic_cast<const SkipThoughtTask*>(&task);
    if (!skip_thought || training.sentence_sets.empty() ||
        trainer.step_count() % skip_thought->settings.train.sentences_every != 0)
      return;
    const auto evaluated = trainer.evaluated_weights();
    auto& model = dynamic_cast<SkipThought&>(*training.model);
    for (const SentenceSet& set : training.sentence_sets)
      report.measured_meanwhile(trainer,
                                json_of(rondo::measure_sentences(model, skip_thought->vocabulary(), set)));
  }

  /// Checked before each step, so that an evaluation ended by a signal is made first when the run is resumed.
  bool evaluation_is_due() const {
    const int64_t every = training.recipe().run.eval_every, step = trainer.step_count();
    return every > 0 && step > 0 && step % every == 0 && !trainer.is_validated();
  }
  bool save_is_due() const {
    const double every = training.recipe().run.save_every;
    return every > 0 && seconds_since(saved) > 60 * every;
  }
  /// The loop. After a signal it saves and throws Stopped.
  void train() {
    try {
      if (trainer.step_count() == 0) probe(0);
      for (; !trainer.done(); signals.throw_if_received()) {
        if (evaluation_is_due()) {
          evaluate();
          save();
        } else if (trainer.next_batch()) {
          trainer.step();
          measure_sentences();
          if (report.is_due(trainer)) report_metrics();
          if (save_is_due() && !evaluation_is_due()) save();
        } else {
          if (!trainer.is_validated()) evaluate();
          probe(trainer.epoch());
          trainer.begin_next_epoch();
          save();
        }
      }
      if (trainer.is_validated()) return;
      evaluate();  // train.steps end within an epoch
      save();
    } catch (const Stopped&) {
      save();
      throw;
    }
  }

  /// Completes the best model of a finished training, measures it on each text, and records what it found.
  /// Returns the scores on the validation text. A signal that ends it leaves nothing half done.
  Scores measure_best() {
    load_model(run.model(), *training.model);
    const std::string completed = task.complete(*training.objective, progress());
    if (!completed.empty()) {
      save_model(run.model(), *training.model);
      report.line(completed);
    }
    std::optional<Scores> first;
    for (const std::string& split : task.measured_splits())
      for (const Scores& scores : task.final_scores(*training.model, split, progress())) {
        report.measured(split, scores);
        append_evaluation(run, {{"split", split}}, scores, task, *training.model, training.compute,
                          training.config.made_by.sha256);
        report.warn(scores.warning);
        if (!first) first = scores;
      }
    check(first.has_value(), "[measure_best] a task measures a split or more");
    return *first;
  }

  /// Logs and says where a signal has stopped the training. One that ends before its first evaluation leaves
  /// a model to use, too: the weights as they are.
  void report_stop(const std::string& to_resume) {
    const bool unevaluated = !trainer.has_best() && trainer.step_count() > 0;
    if (unevaluated) {
      const auto evaluated = trainer.evaluated_weights();
      save_model(run.model(), *training.model);
    }
    report.stopped(trainer, unevaluated);
    report.sync();
    if (unevaluated)
      report.line(fmt::format("{} has the weights of step {}, which are not evaluated", run.model().string(),
                              trainer.step_count()));
    const std::string where =
        trainer.done() ? "before all was evaluated" : fmt::format("at step {}", trainer.step_count());
    report.line(fmt::format("stopped {}; to resume: {}", where, to_resume));
  }
};

/// The error text of a divergence, with advice for the user.
Error remedy_of(const Diverged& error, const RunFolder& run, bool finetunes) {
  return Error(fmt::format(
      "{}. Training stops{}; try a lower {}.learning_rate or stronger clipping (train.clip) in a new "
      "run (another --out): --resume changes no settings",
      error.what(), file_is_there(run.model()) ? " and the best model stays" : "",
      finetunes ? "finetune" : "train"));
}

/// Prints the report at the end: baselines, a sample, how to use the model. It is not stored.
void conclude(const PreparedTraining& training, const Scores& valid, TrainingReport& report) {
  const Recipe& recipe = training.recipe();
  const std::string run = training.run.path.string();
  if (LanguageModellingTask* task = recipe.language_modelling()) {
    report.line(fmt::format("best on valid: {}", figure_text(recipe, valid.at("nats"))));
    if (recipe.report.ngrams) report.line(beside_ngrams(valid.at("nats"), *task));
    if (recipe.report.sample > 0) {
      report.line(fmt::format("a sample of {} symbols:", recipe.report.sample));
      Sampler sampler(dynamic_cast<LanguageModel&>(*training.model), task->vocabulary(),
                      {.seed = static_cast<uint64_t>(recipe.trainer.seed)});
      for (int64_t i = 0; i < recipe.report.sample; ++i) fmt::print("{}", sampler.next());
      fmt::print("\n");
    }
  }
  const auto [command, purpose, input] = training.task().usage();
  report.line(fmt::format("the run is {}; {}: {}{}", run, purpose, command_with({command, run}),
                          input.empty() ? "" : " " + input));
}

/// Saves the first state before anything is logged, so that a killed run can be resumed.
void save_begin(const PreparedTraining& training, TrainingReport& report) {
  const RunFolder& run = training.run;
  const int64_t log_begin = report.sync();
  training.trainer->save(run.state(), log_begin);
  if (log_begin < training.log_position)
    report.line(
        fmt::format("{}: lacks lines that were there when the state was saved; it continues without them",
                    run.log().string()));
}

}  // namespace

int lead(const TrainOptions& options, const Ranks* ranks, PreparedTraining& training) {
  const Trainer& trainer = *training.trainer;
  const Recipe& recipe = training.recipe();
  write_setup(options, training);
  const RunFolder& run = training.run;
  const std::string to_resume =
      (ranks ? fmt::format("mpirun -n {} ", ranks->count()) : "") + resume_command(run.path);
  const bool begins_trained = training.has_base() && trainer.step_count() == 0 && !trainer.is_validated();
  if (begins_trained) save_model(run.model(), *training.model);
  TrainingReport report(recipe, run, training.log_position, training.compute.device);
  save_begin(training, report);
  say_beginning(training, report);
  std::optional<Scores> valid;  // of the best model
  try {
    const StopSignals signals;
    RunningTraining running{training, report, signals};
    try {
      if (begins_trained) running.evaluate_base();
      running.train();
      if (const std::string why = trainer.ended_by(); !why.empty())
        report.line(fmt::format("{}: the training ends", why));
      if (file_is_there(run.model())) valid = running.measure_best();
      signals.throw_if_received();
    } catch (const Stopped& stopped) {
      running.report_stop(to_resume);
      return stopped.exit_status;
    }
  } catch (const Diverged& error) {
    throw remedy_of(error, run, training.config.made_by.is_finetuned());
  } catch (const Error& error) {
    if (training.compute.device == Device::cpu || dynamic_cast<const InputError*>(&error)) throw;
    throw Error(fmt::format("{}. To resume from the last saved state: {}, here or with --device cpu",
                            error.what(), to_resume));
  }
  restore_setup(training, report);
  report.sync();
  if (valid) conclude(training, *valid, report);
  return 0;
}

}  // namespace rondo
