// A training: from the options of `lm train` and `lm finetune` to a measured model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "lm/program/compute.h"
#include "lm/program/log.h"
#include "lm/program/run.h"
#include "lm/report/sentences.h"
#include "lm/settings/settings.h"
#include "lm/training/ranks.h"
#include "lm/training/trainer.h"

namespace rondo {

// --- The training ---
// `lm train`: from a recipe and a text to a run folder; resuming a run; and `lm finetune`, a training with
// other settings and given initial weights.

/// A resumed run keeps the device, threads and precision that are not given.
struct TrainOptions : ComputeOptions {
  std::string recipe{};             // a name or a file; empty only with resume and base
  std::string base{};               // `lm finetune`: a finished run
  std::vector<Setting> settings{};  // in order of precedence: every --set, then the named flags
  std::string data{};               // a folder with train.txt, or one text file; with base, empty: the base's
  std::string out{};                // the run folder; empty: runs/RECIPE-N or runs/RECIPE-finetuned-N
  std::string init_from{};          // a run with the weights to begin with and the vocabulary; empty: none
  bool resume = false;
  std::string command{};  // what was typed, for config.toml
};

/// Trains. Returns 0, or 128 + the signal that stopped it (lm/program/terminal.h), once the state is saved.
int train(const TrainOptions& options);

// --- Its beginning ---
// The run's folder and settings, the text, the device, and the files to resume from; with all checks that can
// be made before memory is allocated and time is spent.

/// All that a training needs before it writes a file: the run's settings and folder, and the task's model, in
/// training.
struct PreparedTraining {
  bool resumes;
  RunFolder run{};  // a new run has no path until its folder is made
  std::optional<FolderLock> lock{};
  RunConfig config{};
  Provenance before{};  // of a resumed run: how it was computed so far
  Compute compute{};
  std::unique_ptr<Module> model{};
  std::unique_ptr<Objective> objective{};
  std::unique_ptr<Trainer> trainer{};
  std::vector<std::string> notes{};          // for the user
  std::vector<SentenceSet> sentence_sets{};  // on which vectors of sentences are measured while it trains
  int64_t log_position = 0;

  /// Ranks that do not lead write no file, so that they need no lock.
  PreparedTraining(const TrainOptions& options, bool leads);

  const Recipe& recipe() const { return config.recipe; }
  Task& task() const { return *config.recipe.task; }
  /// Whether it begins with the weights of another run, on the same text or on another one.
  bool has_base() const { return !base().path.empty(); }
  RunFolder base() const {
    return {config.made_by.is_finetuned() ? config.made_by.finetuned_from : config.made_by.initialized_from};
  }
  /// Whether its vocabulary is another run's or another program's, not that of its own text.
  bool keeps_vocabulary() const {
    return !config.made_by.initialized_from.empty() || !config.made_by.imported_from.empty();
  }
  /// Whether the text must be that of the resumed or finetuned run.
  bool knows_text() const { return resumes || config.made_by.is_finetuned(); }
  /// The run whose vocabulary this one must have.
  RunFolder known_run() const { return resumes ? run : base(); }
  /// Whether the resumed run has left this file.
  bool has_left(const std::filesystem::path& file) const { return resumes && file_is_there(file); }
};

/// Reads the data of the task: texts, vocabularies, ids. The vocabularies are those of another run that are
/// kept, or, of a resumed or finetuned run, those that the text alone does not give again; else they are made
/// from the text. InputError for data that the recipe cannot train on, or if a resumed or finetuned run had
/// other data.
void read_data(const TrainOptions& options, PreparedTraining& training);

/// Before memory is allocated for a model: InputError unless the files that a training begins with fit the
/// model, and the files that its end needs are undamaged.
void check_known_files(const PreparedTraining& training, const Module& layout);

/// Loads the weights that a training starts or resumes from, or tests a new model (Task::check_gradients()).
/// Returns the position of the log at that time.
int64_t load_begin(PreparedTraining& training);

/// Makes the folder of a new run, and writes its config.toml and vocabularies.
void write_setup(const TrainOptions& options, PreparedTraining& training);
/// Writes these files again if one is gone, because without it nothing could use the run, and says so.
void restore_setup(const PreparedTraining& training, TrainingReport& report);

/// Prints what a user should know before the first step.
void say_beginning(const PreparedTraining& training, TrainingReport& report);

/// Trains, with all that is printed and written of it. Returns the exit status.
int lead(const TrainOptions& options, const Ranks* ranks, PreparedTraining& training);

}  // namespace rondo
