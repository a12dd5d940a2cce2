// `lm train` and `lm finetune`. The loop is run_training(), on one screen; around it stand the set-up and the
// final figures. What is shown and logged on the way: lm/program/terminal.h, lm/program/training_log.h.
#include "lm/program/train.h"

#include <functional>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>

#include "cuda/runtime.h"
#include "data/files.h"
#include "data/input_file.h"
#include "data/kneser_ney.h"
#include "data/ngram.h"
#include "data/text.h"
#include "lm/decoding/sampling.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/finetune.h"
#include "lm/program/json_lines.h"
#include "lm/program/measurement.h"
#include "lm/program/memory_estimate.h"
#include "lm/program/model.h"
#include "lm/program/recipes.h"
#include "lm/program/run.h"
#include "lm/program/signals.h"
#include "lm/program/terminal.h"
#include "lm/program/training_log.h"
#include "lm/program/version.h"
#include "lm/tasks/self_test.h"
#include "lm/training/checkpoint.h"
#include "tensor/available_memory.h"
#include "tensor/gemm.h"

namespace rondo {
namespace {

using Progressing = std::function<void(int64_t)>;

/// Shows how far a reading of a text has come, and ends it by Stopped at a signal.
Progressing progress_of(const std::string& what, size_t symbols, const StopSignals& signals,
                        Terminal& terminal) {
  return [&signals, show = terminal.progress_of(what, symbols)](int64_t done) {
    signals.throw_if_received();
    show(done);
  };
}

/// A training and those who watch it.
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

/// Evaluates the weights, or their average where there is one, and keeps them if they are the best so far. A
/// signal that ends it leaves the training as it was.
void evaluate_and_keep(Watched& watched, size_t symbols, const RunFolder& run) {
  Trainer& trainer = watched.trainer();
  const bool averaged = trainer.averages();
  const auto in_force = trainer.evaluated_weights();
  const Figure figure = watched.evaluate(symbols);
  const bool best = trainer.validated(figure);
  if (best) save_model(run.model(), watched.training.model);
  watched.observers.validated(trainer, figure, best);
  if (trainer.averages() && !averaged)
    watched.terminal.line(
        "validation no longer falls: from now on the average of the weights is evaluated and kept");
}

/// Measures the trained model that a finetuning begins with: what it makes must be better.
void evaluate_base(Watched& watched, size_t symbols) {
  const Figure figure = watched.evaluate(symbols);
  watched.trainer().begins_with(figure);
  watched.observers.began_with(figure);
}

/// The training loop. After a signal it saves and throws Stopped. `symbols`: of the validation text.
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
  // Asked before each step: an evaluation that a signal has ended comes first when the run goes on.
  const auto evaluation_is_due = [&] {
    const int64_t every = recipe.train.eval_every, step = trainer.step_count();
    return every > 0 && step > 0 && step % every == 0 && !trainer.is_validated();
  };
  const auto save_is_due = [&] {
    return recipe.train.save_every > 0 && seconds_since(saved) > 60 * recipe.train.save_every;
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

/// A divergence, with what a user can do about it.
Error remedy_of(const Diverged& error, const RunFolder& run, bool finetunes) {
  return Error(fmt::format(
      "{}. Training stops{}; try a lower {}.learning_rate or stronger clipping (train.clip) in a new run "
      "(another --out): --resume changes no settings",
      error.what(), file_is_there(run.model()) ? " and the best model stays" : "",
      finetunes ? "finetune" : "train"));
}

/// Batch normalisation is tested with statistics of all the training text, not with the moving averages of
/// its last batches. Doing so again, after --resume of a finished run, gives the same file.
/// A model without such statistics is left alone.
void estimate_statistics(Training& training, const RunFolder& run, const Progressing& progress,
                         Terminal& terminal) {
  if (training.model.buffers().empty()) return;
  const int64_t symbols = training.task.estimate_statistics(progress);
  save_model(run.model(), training.model);
  terminal.line(fmt::format("statistics re-estimated over {} training symbols", symbols));
}

/// The figures of the best model of a finished training, which are kept. Returns its nats on the validation
/// text. A signal that ends it leaves nothing half done.
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
  const Reading reading = final_reading(recipe, vocabulary.line_end_id());
  const double best = evaluate("valid", corpus.valid, reading);
  if (corpus.test) evaluate("test", *corpus.test, reading);
  if (corpus.test && reading.sequence > 0)  // and what the model knows beyond a sequence
    evaluate("test", *corpus.test, {.streams = recipe.train.final_streams});
  watched.signals.throw_if_received();
  return best;
}

/// What a model must beat, beside what it reaches on the validation text: `nats`. N-gram models are scored on
/// all its symbols but the first.
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

/// What is said at the end: baselines, a sample. Nothing of it is kept.
void conclude(Training& training, const Recipe& recipe, const Vocabulary& vocabulary, const Corpus& corpus,
              double best, const RunFolder& run, Terminal& terminal) {
  terminal.line(fmt::format("best on valid: {}", figure_text(recipe, best)));
  if (recipe.report.ngrams) terminal.line(beside_ngrams(best, vocabulary, corpus));
  if (recipe.report.sample > 0) {
    terminal.line(fmt::format("a sample of {} symbols:", recipe.report.sample));
    Sampler sampler(training.model, vocabulary, {.seed = static_cast<uint64_t>(recipe.train.seed)});
    for (int64_t i = 0; i < recipe.report.sample; ++i) fmt::print("{}", sampler.next());
    fmt::print("\n");
  }
  terminal.line(
      fmt::format("the run is {}; to sample from it: lm generate {}", run.path.string(), run.path.string()));
}

/// Where the text is, so that a later command finds it from any folder. With data.files it is this folder by
/// default.
std::string place_of(const std::string& data, const Recipe& recipe) {
  if (data.empty() && recipe.data.files.empty()) return data;
  return std::filesystem::absolute(data.empty() ? "." : data).lexically_normal().string();
}

/// Gives a training the weights that it begins with or goes on from, and tests new ones. Returns where the
/// log was then.
int64_t load_begin(Training& training, bool resume, const RunFolder& run, const MadeBy& made_by) {
  const auto left = [&](const std::filesystem::path& file) {  // by the run that goes on
    return resume && file_is_there(file);
  };
  const bool finetunes = !made_by.finetuned_from.empty();
  int64_t log_position = 0;
  if (left(run.state())) {
    log_position = training.trainer.load(run.state());
    check_input(
        !training.trainer.has_best() || left(run.model()),
        "{}: missing, though this run has a best model: bring it back, or start a new run with another "
        "--out",
        run.model().string());
    LineFile::check_goes_on(run.log(), log_position, is_json_object);
  } else {
    // Killed before its first state, a run starts anew: it has logged nothing, and has no model either, but a
    // finetuned one has its base's.
    std::error_code ignored;
    const auto logged = std::filesystem::file_size(run.log(), ignored);
    const bool has_begun = (left(run.log()) && !ignored && logged > 0) || (left(run.model()) && !finetunes);
    check_input(!has_begun,
                "{}: missing, so that this run cannot go on: bring it back, or start a new run with another "
                "--out",
                run.state().string());
    if (finetunes)
      load_model(left(run.model()) ? run.model() : RunFolder{made_by.finetuned_from}.model(), training.model);
  }
  if (training.trainer.step_count() == 0) check_gradients_reach_all(training.model);
  return log_position;
}

/// A run before its training: where it is, and with which settings.
struct Setup {
  RunConfig config;
  RunFolder run;  // a new run has none before its folder is made
  std::optional<FolderLock> lock;
  bool resumes;

  explicit Setup(const TrainOptions& options);
  bool finetunes() const { return !config.made_by.finetuned_from.empty(); }
  /// The run whose text and vocabulary must be those of this one, too.
  RunFolder known_run() const { return resumes ? run : base(); }
  RunFolder base() const { return {config.made_by.finetuned_from}; }
};

Setup::Setup(const TrainOptions& options) : resumes(options.resume) {
  if (options.resume) {
    run = open_run_folder(options.out);
    lock.emplace(run.path);
    config = read_config(run);
    for (const Setting& setting : options.settings) apply_setting(setting, keys_of(config.recipe));
    return;
  }
  if (options.base.empty())
    config.recipe = resolve_recipe(options.recipe, options.settings);
  else
    config = finetuning_of(options.base, options.settings);
  check_new_run_folder(options.out);
}

/// The text to train on, noted in `setup`; of a run that is known the same as it had.
CorpusText text_of(const TrainOptions& options, Setup& setup) {
  MadeBy& made_by = setup.config.made_by;
  const bool is_known = setup.resumes || setup.finetunes(), is_given = !is_known || !options.data.empty();
  if (is_given) made_by.data = place_of(options.data, setup.config.recipe);
  CorpusText text = open_text(setup.config.recipe, made_by.data, is_given ? Pipes::accepted : Pipes::refused);
  check_input(!is_known || is_same_text(made_by.sha256, text),
              "{}: the text has changed since this run was made; going on would mix two texts", made_by.data);
  return text;
}

/// Against the files of a run that goes on or is finetuned.
void check_known_vocabulary(const Setup& setup, const std::string& symbols) {
  if (!setup.resumes && !setup.finetunes()) return;
  const RunFolder known = setup.known_run();
  check_vocabulary(known, setup.config.made_by, symbols);
  if (file_is_there(known.vocabulary())) read_vocabulary(known, setup.config);
}

/// Before memory is taken for a model and hours are spent on it: the files that a training begins with must
/// fit the model, and those that its end will need must be whole.
void check_known_files(const Setup& setup, const Module& layout) {
  const auto left = [&](const std::filesystem::path& file) { return setup.resumes && file_is_there(file); };
  const RunFolder& run = setup.run;
  if (left(run.state())) check_state_layout(run.state(), layout);
  if (left(run.model())) check_model(run.model(), layout);
  if (setup.finetunes() && !left(run.state()) && !left(run.model()))
    check_model_layout(setup.base().model(), layout);
}

/// Makes the folder of a new run; writes what is known before the first step.
void write_setup(const TrainOptions& options, Setup& setup, const Compute& compute, const CorpusText& text,
                 const std::string& symbols) {
  auto& [recipe, made_by] = setup.config;
  if (!setup.resumes) {
    made_by.version = version();
    made_by.command = options.command;
    made_by.sha256 = sha256_lines(text);
    setup.run = make_run_folder(options.out, setup.finetunes() ? recipe.name + "-finetuned" : recipe.name);
    setup.lock.emplace(setup.run.path);
  }
  made_by.device = name_of(compute.device);
  made_by.precision = compute.precision;
  made_by.threads = compute.threads;
  made_by.vocabulary = sha256_hex(symbols);
  write_config(setup.run, setup.config);
  write_atomically(setup.run.vocabulary(), symbols);
}

/// Where to compute. A resumed run keeps its device, its threads, and on a GPU its precision, so that it ends
/// with the same bits.
Compute compute_of(const TrainOptions& options, const Setup& setup) {
  if (!setup.resumes)
    return choose_device(options.device.value_or(name_of(Device::cpu)), options.precision, options.threads);
  const MadeBy& before = setup.config.made_by;
  const std::string device = options.device.value_or(before.device);
  std::optional<std::string> precision = options.precision;
  if (!precision && device == name_of(Device::cuda)) precision = before.precision;
  return choose_device(device, precision, options.threads.value_or(static_cast<int>(before.threads)));
}

/// Where a run is computed, as far as its last digits depend on it.
std::string computed_with(const std::string& device, const std::string& precision, std::int64_t threads) {
  return device == name_of(Device::cpu) ? fmt::format("{} threads", threads)
                                        : fmt::format("{} in {}", device, precision);
}

/// What a user should know before the first step; `before`: how a run that goes on was computed.
void say_beginning(const Setup& setup, const MadeBy& before, const Compute& compute, const CorpusText& text,
                   Training& training, const Corpus& corpus, const Vocabulary& vocabulary,
                   Terminal& terminal) {
  const auto& [recipe, made_by] = setup.config;
  for (const std::string& note : text.notes) terminal.line(note);
  terminal.line(fmt::format("{}: {} parameters, {} symbols of {} types, {}; the run is {}", recipe.name,
                            training.model.parameter_count(), corpus.train.ids.size(), vocabulary.types(),
                            compute.device == Device::cuda
                                ? fmt::format("{}, {}", cuda::description(), compute.precision)
                                : fmt::format("{} threads, {} kernels", compute.threads, blas_kernel()),
                            setup.run.path.string()));
  const std::string then = computed_with(before.device, before.precision, before.threads),
                    now = computed_with(made_by.device, made_by.precision, made_by.threads);
  if (setup.resumes && then != now)
    terminal.line(fmt::format("this run was computed with {}, now it goes on with {}: {} may differ", then,
                              now, before.precision == made_by.precision ? "the last digits" : "digits"));
  if (recipe.train.averaging == "always" && training.trainer.step_count() == 0)
    terminal.line("the average of the weights after each step, from the first on, is evaluated and kept");
}

/// InputError if the training would not fit into the memory that there is.
void check_memory(const Recipe& recipe, const LanguageModel& layout, const Corpus& corpus,
                  const Vocabulary& vocabulary, Device device) {
  const auto available = available_memory(device);
  if (!available) return;
  const Batches batches(batch_options(recipe, vocabulary.line_end_id()), corpus.train.ids);
  check_fits(recipe, layout, *available, [&](int64_t streams) {
    return batches.most(streams, !leaves_out_padding(layout.options(), device));
  });
}

}  // namespace

int train(const TrainOptions& options) {
  Setup setup(options);
  const Recipe& recipe = setup.config.recipe;
  const MadeBy before = setup.config.made_by;
  const Compute compute = compute_of(options, setup);
  const Device device = compute.device;
  const CorpusText text = text_of(options, setup);
  const Vocabulary vocabulary = vocabulary_of(recipe, text);
  check_input(vocabulary.types() >= 2, "{}: one symbol only, nothing to predict", text.train.name);
  const std::string symbols = vocabulary.to_text();
  const Corpus corpus = encode_corpus(text, vocabulary);
  const Reading reading = validation_reading(recipe, vocabulary.line_end_id()),
                last = final_reading(recipe, vocabulary.line_end_id());
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
  check_input(training.trainer.epoch() <= recipe.train.epochs + 1,
              "--epochs {}: this run has trained {} epochs already; give that many or more",
              recipe.train.epochs, training.trainer.epoch() - 1);
  write_setup(options, setup, compute, text, symbols);
  const RunFolder& run = setup.run;
  const bool begins_trained =
      setup.finetunes() && training.trainer.step_count() == 0 && !training.trainer.is_validated();
  if (begins_trained) save_model(run.model(), training.model);
  Terminal terminal(recipe);
  TrainingLog log(recipe, run, log_position, device);
  const int64_t log_begin = log.sync();
  training.trainer.save(run.state(), log_begin);  // before anything is logged: a run that is killed can go on
  if (log_begin < log_position)
    terminal.line(
        fmt::format("{}: lacks lines that were there when the state was saved; it goes on without them",
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
      terminal.line(fmt::format("stopped {}; to go on: {}", where, resume_command(run)));
      return stopped.exit_status;
    }
  } catch (const Diverged& error) {
    throw remedy_of(error, run, setup.finetunes());
  } catch (const InputError&) {
    throw;  // no fault of the GPU
  } catch (const Error& error) {
    if (device == Device::cpu) throw;
    throw Error(fmt::format("{}. To go on where the run was last saved: {}, here or with --device cpu",
                            error.what(), resume_command(run)));
  }
  conclude(training, recipe, vocabulary, corpus, best, run, terminal);
  return 0;
}

}  // namespace rondo
