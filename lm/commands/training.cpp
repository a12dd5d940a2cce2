// A training. The loop is run_training(); after it comes measure_best(). What precedes it: train.cpp.
// The report of a training: lm/program/log.h.
#include "lm/commands/training.h"

#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <span>

#include "data/files/input_file.h"
#include "data/ngram/kneser_ney.h"
#include "data/ngram/ngram_model.h"
#include "data/text/text.h"
#include "lm/decoding/sampling.h"
#include "lm/program/cli.h"
#include "lm/program/log.h"
#include "lm/program/recipe.h"
#include "lm/program/settings.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/report/sentences.h"
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

/// Where a training reports, and the signals that stop it.
struct TrainingOutput {
  TrainingReport& report;
  const StopSignals& signals;

  /// Shows the progress of `what`, and throws Stopped after a signal.
  std::function<void(int64_t)> progress_of(const std::string& what, int64_t items) {
    return [this, show = report.progress_of(what, items)](int64_t done) {
      signals.throw_if_received();
      show(done);
    };
  }
  ProgressOf progress() {
    return [this](const std::string& what, int64_t items) { return progress_of(what, items); };
  }
};

void report_metrics(const PreparedTraining& training, TrainingOutput& output) {
  output.report.updated(*training.trainer, training.trainer->metrics());
}

Scores evaluate_valid(const PreparedTraining& training, TrainingOutput& output) {
  return training.objective->evaluate(
      output.progress_of("evaluating valid", training.task().validation_size()));
}

/// Evaluates the weights, or their average once averaging has started, reports it, and saves them if they are
/// the best so far. If a signal ends it, the training is unchanged.
void evaluate_and_save_best(const PreparedTraining& training, TrainingOutput& output) {
  Trainer& trainer = *training.trainer;
  const bool averaged = trainer.averages();
  const auto evaluated = trainer.evaluated_weights();
  const Scores scores = evaluate_valid(training, output);
  const bool best = trainer.validated(scores);
  if (best) save_model(training.setup.run.model(), *training.model);
  output.report.validated(trainer, scores, best);
  if (const LanguageModellingTask* task = training.recipe().language_modelling())
    output.report.warn(warning_of_cost(scores.at("nats"), task->vocabulary().size()));
  if (trainer.averages() && !averaged)
    output.report.line(
        "validation no longer falls: from now on the average of the weights is evaluated and kept");
}

/// A training that ends before its first evaluation leaves a model to use, too: the weights as they are.
/// Returns whether it is that model.
bool save_unevaluated(const PreparedTraining& training) {
  Trainer& trainer = *training.trainer;
  if (trainer.has_best() || trainer.step_count() == 0) return false;
  const auto evaluated = trainer.evaluated_weights();
  save_model(training.setup.run.model(), *training.model);
  return true;
}

/// Evaluates the trained model that a training begins with: the result must be better.
void evaluate_base(const PreparedTraining& training, TrainingOutput& output) {
  const Scores scores = evaluate_valid(training, output);
  training.trainer->set_baseline(scores);
  output.report.began_with(scores);
}

/// Completes the best model of a finished training, measures it on each text, and records what it found.
/// Returns the scores on the validation text. A signal that ends it leaves nothing half done.
Scores measure_best(const PreparedTraining& training, TrainingOutput& output) {
  const RunFolder& run = training.setup.run;
  Task& task = training.task();
  load_model(run.model(), *training.model);
  const std::string completed = task.complete(*training.objective, output.progress());
  if (!completed.empty()) {
    save_model(run.model(), *training.model);
    output.report.line(completed);
  }
  std::optional<Scores> first;
  for (const std::string& split : task.measured_splits())
    for (const Scores& scores : task.final_scores(*training.model, split, output.progress())) {
      output.report.measured(split, scores);
      append_evaluation(run, {{"split", split}}, scores, task, *training.model, training.compute,
                        training.setup.config.made_by.sha256);
      output.report.warn(scores.warning);
      if (!first) first = scores;
    }
  check(first.has_value(), "[measure_best] a task measures a split or more");
  return *first;
}

/// The training loop. After a signal it saves and throws Stopped.
void run_training(const PreparedTraining& training, TrainingOutput& output) {
  Trainer& trainer = *training.trainer;
  const RunOptions& options = training.recipe().run;
  Task& task = training.task();
  auto saved = Clock::now();
  const auto save = [&] {
    restore_setup(training.setup, output.report);
    report_metrics(training, output);
    trainer.save(training.setup.run.state(), output.report.sync());
    saved = Clock::now();
  };
  const auto evaluate = [&] {
    report_metrics(training, output);
    evaluate_and_save_best(training, output);
  };
  const auto probe = [&](int64_t epochs) {
    if (options.probe_every == 0 || epochs % options.probe_every != 0) return;
    const auto evaluated = trainer.evaluated_weights();
    const ProbeOptions how = task.probe_options();
    output.report.probed(
        trainer, epochs,
        task.probe(*training.model, "train", how, output.progress_of("probing", how.sequences)));
  };
  const auto measure_sentences = [&] {
    const auto* skip_thought = dynamic_cast<const SkipThoughtTask*>(&task);
    if (!skip_thought || training.sentence_sets.empty() ||
        trainer.step_count() % skip_thought->settings.train.sentences_every != 0)
      return;
    const auto evaluated = trainer.evaluated_weights();
    auto& model = dynamic_cast<SkipThought&>(*training.model);
    for (const SentenceSet& set : training.sentence_sets)
      output.report.measured_meanwhile(
          trainer, json_of(rondo::measure_sentences(model, skip_thought->vocabulary(), set)));
  };
  // Checked before each step, so that an evaluation ended by a signal is made first when the run is resumed.
  const auto evaluation_is_due = [&] {
    const int64_t every = options.eval_every, step = trainer.step_count();
    return every > 0 && step > 0 && step % every == 0 && !trainer.is_validated();
  };
  const auto save_is_due = [&] {
    return options.save_every > 0 && seconds_since(saved) > 60 * options.save_every;
  };
  try {
    if (trainer.step_count() == 0) probe(0);
    for (; !trainer.done(); output.signals.throw_if_received()) {
      if (evaluation_is_due()) {
        evaluate();
        save();
      } else if (trainer.next_batch()) {
        trainer.step();
        measure_sentences();
        if (output.report.is_due(trainer)) report_metrics(training, output);
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
  const std::string run = training.setup.run.path.string();
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

/// Logs and says where a signal has stopped a training.
void report_stop(const PreparedTraining& training, TrainingOutput& output, const std::string& to_resume) {
  const Trainer& trainer = *training.trainer;
  const bool unevaluated = save_unevaluated(training);
  output.report.stopped(trainer, unevaluated);
  output.report.sync();
  if (unevaluated)
    output.report.line(fmt::format("{} has the weights of step {}, which are not evaluated",
                                   training.setup.run.model().string(), trainer.step_count()));
  const std::string where =
      trainer.done() ? "before all was evaluated" : fmt::format("at step {}", trainer.step_count());
  output.report.line(fmt::format("stopped {}; to resume: {}", where, to_resume));
}

/// Saves the first state before anything is logged, so that a killed run can be resumed.
void save_begin(const PreparedTraining& training, TrainingReport& report) {
  const RunFolder& run = training.setup.run;
  const int64_t log_begin = report.sync();
  training.trainer->save(run.state(), log_begin);
  if (log_begin < training.log_position)
    report.line(
        fmt::format("{}: lacks lines that were there when the state was saved; it continues without them",
                    run.log().string()));
}

}  // namespace

int lead(const TrainOptions& options, const Ranks* ranks, PreparedTraining& training) {
  const Setup& setup = training.setup;
  const Trainer& trainer = *training.trainer;
  const Recipe& recipe = training.recipe();
  write_setup(options, training);
  const RunFolder& run = setup.run;
  const std::string to_resume =
      (ranks ? fmt::format("mpirun -n {} ", ranks->count()) : "") + resume_command(run.path);
  const bool begins_trained = setup.has_base() && trainer.step_count() == 0 && !trainer.is_validated();
  if (begins_trained) save_model(run.model(), *training.model);
  TrainingReport report(recipe, run, training.log_position, training.compute.device);
  save_begin(training, report);
  say_beginning(training, report);
  std::optional<Scores> valid;  // of the best model
  try {
    const StopSignals signals;
    TrainingOutput output{report, signals};
    try {
      if (begins_trained) evaluate_base(training, output);
      run_training(training, output);
      if (const std::string why = trainer.ended_by(); !why.empty())
        report.line(fmt::format("{}: the training ends", why));
      if (file_is_there(run.model())) valid = measure_best(training, output);
      signals.throw_if_received();
    } catch (const Stopped& stopped) {
      report_stop(training, output, to_resume);
      return stopped.exit_status;
    }
  } catch (const Diverged& error) {
    throw remedy_of(error, run, setup.finetunes());
  } catch (const Error& error) {
    if (training.compute.device == Device::cpu || dynamic_cast<const InputError*>(&error)) throw;
    throw Error(fmt::format("{}. To resume from the last saved state: {}, here or with --device cpu",
                            error.what(), to_resume));
  }
  restore_setup(training.setup, report);
  report.sync();
  if (valid) conclude(training, *valid, report);
  return 0;
}

int follow(PreparedTraining& training) {
  const StopSignals ignored;  // rank 0 stops the training
  training.trainer->follow();
  return 0;
}

}  // namespace rondo
