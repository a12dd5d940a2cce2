// What `lm train` trains, by the recipe's task: the data, the vocabularies, the model, the task, the trainer,
// and what is measured and printed at the end. The order of calls is lm/program/train.cpp's. The jobs:
// lm/program/language_modelling_job.cpp, lm/program/translation_job.cpp, lm/program/multi_task_job.cpp,
// lm/program/classification_job.cpp, lm/program/question_answering_job.cpp,
// lm/program/skip_thought_job.cpp, lm/program/speech_job.cpp; what most of them share: lm/program/job_of.h.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lm/evaluation/probe.h"
#include "lm/program/figure_warnings.h"
#include "lm/program/plot_page.h"
#include "lm/program/signals.h"
#include "lm/program/terminal.h"
#include "lm/program/train_setup.h"
#include "lm/program/training_log.h"
#include "lm/training/checkpoint.h"
#include "lm/training/trainer.h"

namespace rondo {

/// What observes a training.
struct Watch {
  Terminal& terminal;
  TrainingLog& log;
  const StopSignals& signals;
  TrainingPage& page;
  Observers observers{{&terminal, &log}};

  /// A function that shows the progress of `what`, which has `items` items, and throws Stopped after a
  /// signal.
  std::function<void(int64_t)> progress_of(const std::string& what, int64_t items);
};

class Job {
 public:
  virtual ~Job() = default;

  /// Of the data: "HEX  FILE" of each file, and notes for the user.
  virtual std::vector<std::string> sha256_lines() const = 0;
  virtual std::vector<std::string> notes() const = 0;
  /// How much of its texts the vocabularies do not know: of what is scored, as far as that is text. The
  /// training text is the first.
  virtual std::vector<UnknownShare> unknown_shares() const { return {}; }
  /// What else could make the figures misleading.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// A figure on the validation text that is worse than knowing nothing, and why it may be so; else empty.
  virtual std::string warning_of(const Figure& /*figure*/, const RunFolder& /*run*/) const { return ""; }
  /// The vocabularies: their files in a run, and the contents.
  virtual VocabularyFiles vocabularies() const = 0;
  /// "929589 symbols, a vocabulary of 10000 symbols".
  virtual std::string size_text() const = 0;
  /// The number of items of an evaluation, for its progress.
  virtual int64_t validation_size() const = 0;

  /// The model's names and shapes, without memory.
  virtual const Module& layout() const = 0;
  /// InputError if the training would not fit into the available memory; Error if its shapes do not fit
  /// together.
  virtual void check_memory(Device device) = 0;

  /// Allocates the model, and makes task and trainer, which the functions below need.
  virtual void begin(Device device) = 0;
  virtual Module& model() = 0;
  virtual Trainer& trainer() = 0;
  Task& task() { return trainer().task(); }
  /// Looks into the model's recurrent layers while it reads some of the training text; of a multi-task
  /// training, that of the first task.
  virtual Probed probe(const std::function<void(int64_t)>& progress) = 0;
  /// A training calls measure_meanwhile() after every so many updates, 0: never, and writes each object that
  /// it returns into log.jsonl.
  virtual int64_t measures_every() const { return 0; }
  virtual std::vector<nlohmann::ordered_json> measure_meanwhile() { return {}; }
  /// Replaces drawn values of a new model by those that the recipe names, if any.
  virtual void set_initial_values() {}
  /// Throws an Error if a part of the model gets no gradient, or another fault of the model shows.
  virtual void test_model() {}

  /// Saves the weights as the run's best model: they were evaluated last, as task().evaluate() does.
  virtual void keep_best(const RunFolder& run) { save_model(run.model(), model()); }
  /// Measures and records the figures of the best model of a finished training, which it loads. A signal that
  /// ends it leaves nothing half done.
  virtual void measure_best(Watch& watch, const Setup& setup, const Compute& compute) = 0;
  /// Prints the report at the end: baselines, a sample. It is not stored.
  virtual void conclude(Terminal& terminal, const RunFolder& run) = 0;
};

/// Reads the data of a training, which it records in `setup`. InputError for data that the recipe cannot
/// train on, or if a resumed or finetuned run had other data.
std::unique_ptr<Job> make_language_modelling_job(const TrainOptions& options, Setup& setup);
std::unique_ptr<Job> make_translation_job(const TrainOptions& options, Setup& setup);
std::unique_ptr<Job> make_multi_task_job(const TrainOptions& options, Setup& setup);
std::unique_ptr<Job> make_classification_job(const TrainOptions& options, Setup& setup);
std::unique_ptr<Job> make_question_answering_job(const TrainOptions& options, Setup& setup);
std::unique_ptr<Job> make_skip_thought_job(const TrainOptions& options, Setup& setup);
std::unique_ptr<Job> make_speech_job(const TrainOptions& options, Setup& setup);

/// By the recipe's task.
std::unique_ptr<Job> make_job(const TrainOptions& options, Setup& setup);

}  // namespace rondo
