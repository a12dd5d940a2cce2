// What a training begins with: its run's folder and settings, the text, the device, the files that it goes on
// from; everything that can be refused before memory is taken and hours are spent. Next:
// lm/program/train.cpp.
#pragma once

#include <optional>
#include <string>

#include "data/corpus.h"
#include "data/files.h"
#include "data/vocabulary.h"
#include "lm/program/model.h"
#include "lm/program/run_folder.h"
#include "lm/program/terminal.h"
#include "lm/program/train.h"

namespace rondo {

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

/// Where to compute. A resumed run keeps its device, its threads, and on a GPU its precision, so that it ends
/// with the same bits.
Compute compute_of(const TrainOptions& options, const Setup& setup);

/// The text to train on, noted in `setup`; of a run that is known the same as it had.
CorpusText text_of(const TrainOptions& options, Setup& setup);

/// Against the files of a run that goes on or is finetuned.
void check_known_vocabulary(const Setup& setup, const std::string& symbols);

/// Before memory is taken for a model and hours are spent on it: the files that a training begins with must
/// fit the model, and those that its end will need must be whole.
void check_known_files(const Setup& setup, const Module& layout);

/// InputError if the training would not fit into the memory that there is.
void check_memory(const Recipe& recipe, const LanguageModel& layout, const Corpus& corpus,
                  const Vocabulary& vocabulary, Device device);

/// Gives a training the weights that it begins with or goes on from, and tests new ones. Returns where the
/// log was then.
int64_t load_begin(Training& training, bool resume, const RunFolder& run, const Provenance& made_by);

/// Makes the folder of a new run; writes what is known before the first step.
void write_setup(const TrainOptions& options, Setup& setup, const Compute& compute, const CorpusText& text,
                 const std::string& symbols);

/// What a user should know before the first step; `before`: how a run that goes on was computed.
void say_beginning(const Setup& setup, const Provenance& before, const Compute& compute,
                   const CorpusText& text, Training& training, const Corpus& corpus,
                   const Vocabulary& vocabulary, Terminal& terminal);

}  // namespace rondo
