// The measurements of runs, one row per run, as shown by `lm table`: from log.jsonl and evaluations.jsonl in
// their folders. The layout: lm/program/table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/measurement.h"
#include "lm/program/run_folder.h"
#include "lm/program/sentence_report.h"

namespace rondo {

/// Measurements on one split, from the log or from evaluations.jsonl.
struct Measured {
  double nats = 0;
  std::optional<double> bits{}, perplexity{};  // of tasks with has_perplexity(), lm/program/recipe.h
  std::int64_t symbols = 0;                    // 0: the log does not say
  std::string read, settings;                  // how the text was read; the settings of adaptive methods
  TaskScores scores{};
  std::optional<double> bits_per_byte{};   // of evaluations.jsonl alone; none if symbols were unknown
  std::optional<std::int64_t> unknowns{};  // likewise: of the symbols
  double least_nats = nats;                // of all measurements of this kind, whatever their settings
};

/// A kind of measurement. `carried`: the state is carried through the text, although the recipe resets it.
struct MeasurementKind {
  std::string name, split;
  bool dynamic = false, cache = false, carried = false;

  bool is_plain() const { return !dynamic && !cache && !carried; }
};
inline const std::vector<MeasurementKind> kinds_of_measurement = {
    {"test", "test"},
    {"test carried on", "test", false, false, true},
    {"test dynamic", "test", true},
    {"test cache", "test", false, true},
    {"test dynamic+cache", "test", true, true},
    {"valid", "valid"},
    {"valid dynamic", "valid", true},
    {"valid cache", "valid", false, true},
    {"valid dynamic+cache", "valid", true, true},
    {"speakers", "speakers"},
};
constexpr std::size_t test_kind = 0, valid_kind = 5;

/// What the log says of steps of a training.
struct LoggedProgress {
  std::int64_t step = 0;
  double epochs_trained = 0, nats = 0;  // the mean loss since the line before
};

/// A run, or a folder of docs/runs, which has no vocabulary and no model.
struct MeasuredRun {
  std::string run;
  RunConfig config;
  std::int64_t vocabulary_size = 0, types = 0, parameters = 0;
  bool finished = false;
  bool has_unevaluated_model = false;  // stopped before the first evaluation: the weights of its last step
  bool keeps_base = false;             // no evaluation was better than that of the weights it began with
  std::int64_t steps = 0;              // up to the last evaluation
  std::int64_t epochs = 0;             // the last epoch that was evaluated; 0: none
  double epochs_trained = 0;           // up to that evaluation, with the fraction of the last one
  std::optional<LoggedProgress> logged{};  // the last steps that were logged
  std::optional<double> training_seconds;  // up to that evaluation; none in logs of older versions
  std::vector<std::optional<Measured>> measured{kinds_of_measurement.size()};  // of the best model

  std::vector<SentenceSetFigures> sentences;  // of a skip-thought model

  const Recipe& recipe() const { return config.recipe; }
  std::optional<Measured>& test() { return measured[test_kind]; }
  std::optional<Measured>& valid() { return measured[valid_kind]; }
  bool is_finetuned() const { return !config.made_by.finetuned_from.empty(); }
  /// Whether another program has trained it, and nothing since.
  bool is_imported() const { return !config.made_by.imported_from.empty() && !is_finetuned(); }
  bool is_of_the_papers_text() const;
  /// The paper's figure for the same kind of model on the same text, read in the same way; 0: none.
  double published(const MeasurementKind& kind, const std::optional<Measured>& it) const;
};

/// Reads a run's folder. InputErrors of the folder and of its files.
MeasuredRun measured_run(const std::string& path);
/// The same of a run that is being trained: its state, which may be large, is not read.
MeasuredRun measured_so_far(const std::string& path);

/// Groups finished runs that differ only in their seed, in the order of each group's first run. A group has
/// each seed once: a second run with the same seed, or a copy, begins another group; so does an unfinished
/// run.
using MeasuredRuns = std::vector<MeasuredRun>;
std::vector<MeasuredRuns> lines_of(const MeasuredRuns& rows);

/// Groups runs of a recipe on the same text that have the same values of these keys, whatever other settings
/// differ; finished and unfinished ones apart.
std::vector<MeasuredRuns> groups_of(const MeasuredRuns& rows, const std::vector<std::string>& keys);

/// The mean over the runs of a group that have a figure which is a number.
struct Mean {
  std::size_t n = 0;
  double mean = 0, deviation = 0;  // sample standard deviation (n - 1); 0 for one run
};
Mean mean_of(const std::vector<double>& figures);
using Value = std::function<std::optional<double>(const Measured&)>;
/// The mean of `value` for one kind; none if the runs' settings differ, n = 0 if there are no figures.
std::optional<Mean> mean_of(const MeasuredRuns& line, std::size_t kind, const Value& value);
/// The figure of one run, or the mean of several and their standard deviation; then the number of runs that
/// have it, if not all have.
std::string mean_text(const MeasuredRuns& line, std::size_t kind, const Value& value, int digits);

/// A score of the task, by its key.
Value score_of(const std::string& key);
/// The figure by which runs of a recipe are compared.
struct DecisiveFigure {
  std::string name;  // "perplexity", "bits", "BLEU"
  Value value;
  bool higher_is_better = false;
  int digits = 2;  // that are shown
};
DecisiveFigure decisive_figure(const Recipe& recipe);

/// The settings of a run that affect its figures, and the seed as 0.
Recipe without_seed(const MeasuredRun& run);

/// Says on stderr which runs are not evaluated yet, and warns of figures that are worse than those of equal
/// probabilities.
void say_what_misleads(const MeasuredRuns& rows);
/// Warnings on stderr if runs of one text differ in their vocabularies, and if many symbols of a text are
/// unknown to a run.
void say_what_does_not_compare(const MeasuredRuns& rows);

}  // namespace rondo
