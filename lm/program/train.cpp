// `lm train` and `lm finetune`. The loop is run_training(). Before it: lm/program/train_setup.h; after it:
// the final figures, in this file. Terminal and log: lm/program/terminal.h, lm/program/training_log.h.
#include "lm/program/train.h"

#include <functional>
#include <numbers>
#include <numeric>
#include <span>

#include "data/input_file.h"
#include "data/kneser_ney.h"
#include "data/ngram.h"
#include "data/text.h"
#include "lm/decoding/sampling.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/measurement.h"
#include "lm/program/run.h"
#include "lm/program/signals.h"
#include "lm/program/train_setup.h"
#include "lm/program/training_log.h"
#include "lm/training/checkpoint.h"

namespace rondo {
namespace {

using Progressing = std::function<void(int64_t)>;

/// Shows the progress of reading a text, and throws Stopped after a signal.
Progressing progress_of(const std::string& what, size_t symbols, const StopSignals& signals,
                        Terminal& terminal) {
  return [&signals, show = terminal.progress_of(what, symbols)](int64_t done) {
    signals.throw_if_received();
    show(done);
  };
}

/// A training and its observers.
struct Watched {
  Training& training;
  Terminal& terminal;
  TrainingLog& log;
  const StopSignals& signals;
  Observers observers{{&terminal, &log}};

  Trainer& trainer() const { return training.trainer; }
  void tell_metrics() { observers.updated(trainer(), trainer().metrics()); }
  Figure evaluate(size_t symbols) {
    return training.task.evaluate(progress_of("evaluating valid", symbols, signals, terminal));
  }
};

/// Evaluates the weights, or their average once averaging has started, and saves them if they are the best so
/// far. If a signal ends it, the training is unchanged.
void evaluate_and_keep(Watched& watched, size_t symbols, const RunFolder& run) {
  Trainer& trainer = watched.trainer();
  const bool averaged = trainer.averages();
  const auto evaluated = trainer.evaluated_weights();
  const Figure figure = watched.evaluate(symbols);
  const bool best = trainer.validated(figure);
  if (best) save_model(run.model(), watched.training.model);
  watched.observers.validated(trainer, figure, best);
  if (trainer.averages() && !averaged)
    watched.terminal.line(
        "validation no longer falls: from now on the average of the weights is evaluated and kept");
}

/// Evaluates the trained model that a finetuning begins with: the result must be better.
void evaluate_base(Watched& watched, size_t symbols) {
  const Figure figure = watched.evaluate(symbols);
  watched.trainer().set_figure_to_beat(figure);
  watched.observers.began_with(figure);
}

/// The training loop. After a signal it saves and throws Stopped. `symbols` is the size of the validation
/// text.
void run_training(Watched& watched, const Recipe& recipe, size_t symbols, const RunFolder& run) {
  Trainer& trainer = watched.trainer();
  auto saved = Clock::now();
  const auto save = [&] {
    watched.tell_metrics();
    trainer.save(run.state(), watched.log.sync());
    saved = Clock::now();
  };
  const auto evaluate = [&] {
    watched.tell_metrics();
    evaluate_and_keep(watched, symbols, run);
  };
  // Checked before each step, so that an evaluation ended by a signal is made first when the run is resumed.
  const auto evaluation_is_due = [&] {
    const int64_t every = recipe.run.eval_every, step = trainer.step_count();
    return every > 0 && step > 0 && step % every == 0 && !trainer.is_validated();
  };
  const auto save_is_due = [&] {
    return recipe.run.save_every > 0 && seconds_since(saved) > 60 * recipe.run.save_every;
  };
  try {
    for (; !trainer.done(); watched.signals.throw_if_received()) {
      if (evaluation_is_due()) {
        evaluate();
        save();
      } else if (trainer.next_batch()) {
        trainer.step();
        if (watched.observers.is_due(trainer)) watched.tell_metrics();
        if (save_is_due() && !evaluation_is_due()) save();
      } else {
        if (!trainer.is_validated()) evaluate();
        trainer.begin_next_epoch();
        save();
      }
    }
  } catch (const Stopped&) {
    save();
    throw;
  }
}

/// The error text of a divergence, with advice for the user.
Error remedy_of(const Diverged& error, const RunFolder& run, bool finetunes) {
  return Error(fmt::format(
      "{}. Training stops{}; try a lower {}.learning_rate or stronger clipping (train.clip) in a new run "
      "(another --out): --resume changes no settings",
      error.what(), file_is_there(run.model()) ? " and the best model stays" : "",
      finetunes ? "finetune" : "train"));
}

/// Re-estimates the statistics of batch normalisation over the whole training text, because the moving
/// averages are of the last batches only. Repeating it, after --resume of a finished run, gives the same
/// file. Does nothing for a model without such statistics.
void estimate_statistics(Training& training, const RunFolder& run, const Progressing& progress,
                         Terminal& terminal) {
  if (training.model.buffers().empty()) return;
  const int64_t symbols = training.task.estimate_statistics(progress);
  save_model(run.model(), training.model);
  terminal.line(fmt::format("statistics re-estimated over {} training symbols", symbols));
}

/// Measures and records the figures of the best model of a finished training. Returns its nats on the
/// validation text. A signal that ends it leaves nothing half done.
double measure_best(Watched& watched, const RunConfig& config, const Vocabulary& vocabulary,
                    const Corpus& corpus, const RunFolder& run, const Compute& compute) {
  const Recipe& recipe = config.recipe;
  LanguageModel& best_model = watched.training.model;
  const auto progress = [&](const std::string& what, size_t symbols) {
    return progress_of(what, symbols, watched.signals, watched.terminal);
  };
  load_model(run.model(), best_model);
  estimate_statistics(watched.training, run, progress("estimating statistics", corpus.train.ids.size()),
                      watched.terminal);
  const std::string model = sha256_hex(InputFile(run.model()));
  const auto evaluate = [&](const std::string& split, const Encoded& text, const Reading& reading) {
    Measurement it;
    it.split = split;
    it.model = model;
    it.types = vocabulary.types();
    it.vocabulary_size = vocabulary.size();
    it.parameters = best_model.parameter_count();
    it.reading = reading;
    it.result = evaluate_ids(best_model, text.ids, reading, vocabulary.unknown_id(),
                             progress("evaluating " + split, text.ids.size()));
    watched.observers.measured(split, figure_of(it.result, reading));
    keep(run, it, compute, config.made_by.sha256);
    return it.result.nats();
  };
  const Reading reading = final_reading(recipe.task, vocabulary.line_end_id());
  const double best = evaluate("valid", corpus.valid, reading);
  if (corpus.test) evaluate("test", *corpus.test, reading);
  if (corpus.test && reading.sequence > 0)  // and once more with the state carried on
    evaluate("test", *corpus.test, {.streams = recipe.task.final_streams});
  watched.signals.throw_if_received();
  return best;
}

/// The model's `nats` on the validation text beside those of n-gram models, which are scored on the same
/// symbols: all except the first.
std::string beside_ngrams(double nats, const Vocabulary& vocabulary, const Corpus& corpus) {
  constexpr int order = 5;
  const std::span<const int32_t> train = corpus.train.ids, valid = corpus.valid.ids;
  const NgramEntropy ngram = ngram_entropy(train, valid, vocabulary.size());
  const auto line_end = vocabulary.line_end_id();
  const NgramModel kneser_ney_model = kneser_ney(train, vocabulary.size(), line_end, order).model;
  const std::vector<double> log_p = log_probabilities(kneser_ney_model, valid, line_end);
  const double sum = std::accumulate(log_p.begin() + 1, log_p.end(), 0.0);
  const auto bits = [](double it) { return it / std::numbers::ln2; };
  return fmt::format(
      "on valid: model {:.3f}, Kneser-Ney of order {} {:.3f}, bigram {:.3f}, unigram {:.3f} bits per symbol",
      bits(nats), order, bits(-sum / static_cast<double>(log_p.size() - 1)), bits(ngram.bigram),
      bits(ngram.unigram));
}

/// Prints the report at the end: baselines, a sample. It is not stored.
void conclude(Training& training, const Recipe& recipe, const Vocabulary& vocabulary, const Corpus& corpus,
              double best, const RunFolder& run, Terminal& terminal) {
  terminal.line(fmt::format("best on valid: {}", figure_text(recipe, best)));
  if (recipe.report.ngrams) terminal.line(beside_ngrams(best, vocabulary, corpus));
  if (recipe.report.sample > 0) {
    terminal.line(fmt::format("a sample of {} symbols:", recipe.report.sample));
    Sampler sampler(training.model, vocabulary, {.seed = static_cast<uint64_t>(recipe.trainer.seed)});
    for (int64_t i = 0; i < recipe.report.sample; ++i) fmt::print("{}", sampler.next());
    fmt::print("\n");
  }
  terminal.line(
      fmt::format("the run is {}; to sample from it: lm generate {}", run.path.string(), run.path.string()));
}

}  // namespace

int train(const TrainOptions& options) {
  Setup setup(options);
  const Recipe& recipe = setup.config.recipe;
  const Provenance before = setup.config.made_by;
  const Compute compute = compute_of(options, setup);
  const Device device = compute.device;
  const CorpusText text = text_of(options, setup);
  const Vocabulary vocabulary = vocabulary_of(recipe.data, text);
  check_input(vocabulary.types() >= 2, "{}: one symbol only, nothing to predict", text.train.name);
  const std::string symbols = vocabulary.to_text();
  const Corpus corpus = encode_corpus(text, vocabulary);
  const Reading reading = validation_reading(recipe.task, vocabulary.line_end_id()),
                last = final_reading(recipe.task, vocabulary.line_end_id());
  check_streams(reading, std::ssize(corpus.valid.ids));
  check_streams(last, std::ssize(corpus.valid.ids));
  if (corpus.test) check_streams(last, std::ssize(corpus.test->ids));
  check_known_vocabulary(setup, symbols);
  const LanguageModel layout(model_options(recipe), vocabulary.size(), std::nullopt);
  check_known_files(setup, layout);
  check_memory(recipe, layout, corpus, vocabulary, device);
  Training training(recipe, vocabulary.size(), corpus.train.ids, vocabulary.line_end_id(), device,
                    corpus.valid.ids);
  const int64_t log_position = load_begin(training, setup.resumes, setup.run, setup.config.made_by);
  check_input(training.trainer.epoch() <= recipe.trainer.epochs + 1,
              "--epochs {}: this run has trained {} epochs already; give that many or more",
              recipe.trainer.epochs, training.trainer.epoch() - 1);
  write_setup(options, setup, compute, text, symbols);
  const RunFolder& run = setup.run;
  const bool begins_trained =
      setup.finetunes() && training.trainer.step_count() == 0 && !training.trainer.is_validated();
  if (begins_trained) save_model(run.model(), training.model);
  Terminal terminal(recipe);
  TrainingLog log(recipe, run, log_position, device);
  const int64_t log_begin = log.sync();
  training.trainer.save(run.state(), log_begin);  // before anything is logged: a killed run can be resumed
  if (log_begin < log_position)
    terminal.line(
        fmt::format("{}: lacks lines that were there when the state was saved; it continues without them",
                    run.log().string()));
  say_beginning(setup, before, compute, text, training, corpus, vocabulary, terminal);
  double best = 0;
  try {
    const StopSignals signals;
    Watched watched{training, terminal, log, signals};
    try {
      if (begins_trained) evaluate_base(watched, corpus.valid.ids.size());
      run_training(watched, recipe, corpus.valid.ids.size(), run);
      if (const std::string why = training.trainer.ended_by(); !why.empty())
        terminal.line(fmt::format("{}: the training ends", why));
      best = measure_best(watched, setup.config, vocabulary, corpus, run, compute);
    } catch (const Stopped& stopped) {
      const std::string where = training.trainer.done()
                                    ? "before all was evaluated"
                                    : fmt::format("at step {}", training.trainer.step_count());
      terminal.line(fmt::format("stopped {}; to resume: {}", where, resume_command(run)));
      return stopped.exit_status;
    }
  } catch (const Diverged& error) {
    throw remedy_of(error, run, setup.finetunes());
  } catch (const InputError&) {
    throw;  // not a GPU error
  } catch (const Error& error) {
    if (device == Device::cpu) throw;
    throw Error(fmt::format("{}. To resume from the last saved state: {}, here or with --device cpu",
                            error.what(), resume_command(run)));
  }
  conclude(training, recipe, vocabulary, corpus, best, run, terminal);
  return 0;
}

}  // namespace rondo
