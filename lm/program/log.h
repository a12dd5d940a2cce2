// What a training reports and a run records: progress, the log, and measurements of its model.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/files/files.h"
#include "lm/evaluation/probe.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/tasks/task.h"
#include "lm/training/trainer.h"

namespace rondo {

// --- Training report ---

/// The usual figure for the recipe's unit: perplexity for words, bits for characters and bytes.
std::string figure_text(const Recipe& recipe, double nats);
/// How long a training goes on that scores `rate` items in a second, without evaluations.
double seconds_left(const Trainer& trainer, double rate);
/// What was scored, and how: "80 characters by greedy search".
std::string scored_text(const Scores& scores);

/// What a training reports, on the terminal and in log.jsonl: on a terminal the progress; in the log a line
/// every train.log_every steps; in both, a line for each evaluation.
class TrainingReport {
 public:
  /// The log continues at a position in bytes; the rest of the file is cut off.
  TrainingReport(const Recipe& recipe, const RunFolder& run, std::int64_t position, Device device)
      : recipe_(recipe), device_(device), progress_(stdout), file_(run.log(), position, is_json_object) {}

  /// Whether updated() should be called now. Metrics are computed only then: on a GPU the host has to wait
  /// for them.
  bool is_due(const Trainer& trainer) const { return progress_.due() || is_logged(trainer); }
  /// Reports some steps. Call it when it is due, and before an evaluation is reported or the log is written.
  void updated(const Trainer& trainer, const StepMetrics& metrics);
  /// Reports an evaluation of the trainer's evaluated_weights().
  void validated(const Trainer& trainer, const Scores& scores, bool best);
  /// Reports the evaluation of the trained model that a finetuning begins with.
  void began_with(const Scores& scores);
  /// Reports an evaluation of the best model, at the end of the training.
  void measured(const std::string& split, const Scores& scores);

  // In the log alone:

  /// Logs a look into the model after some epochs, 0 before the first one.
  void probed(const Trainer& trainer, std::int64_t epochs, const Probed& what);
  /// Logs a measurement beside the validation, such as that of sentence vectors.
  void measured_meanwhile(const Trainer& trainer, const nlohmann::ordered_json& figure);
  /// Logs that the training has been stopped before its end. `unevaluated`: the model that is kept is that of
  /// this step, and not evaluated. A resumed training removes the line.
  void stopped(const Trainer& trainer, bool unevaluated);
  /// Writes everything to the disk and returns the size in bytes.
  std::int64_t sync() { return file_.sync(); }

  // On the terminal alone:

  /// Prints a line that stays.
  void line(const std::string& text) { progress_.line(text); }
  /// Prints a warning on stderr; nothing if it is empty.
  void warn(const std::string& text);
  /// A function that shows the progress of `what`: the share of its `items` that is done.
  ReportDone progress_of(const std::string& what, std::int64_t items) {
    return rondo::progress_of(progress_, what, items);
  }

 private:
  bool is_logged(const Trainer& trainer) const { return trainer.step_count() % recipe_.run.log_every == 0; }
  std::vector<std::string> status_of(const Trainer& trainer) const;
  /// Writes an entry into the log, after the kind of event and the time.
  void append(const std::string& event, const nlohmann::ordered_json& entry);
  /// Prints `what` and the scores, and logs them: `entry` says when they were measured.
  void evaluation(const std::string& what, nlohmann::ordered_json entry, const std::string& split,
                  const Scores& scores, bool best);

  const Recipe& recipe_;
  Device device_;
  Progress progress_;
  LineFile file_;
  StepMetrics window_;            // since the last line of the log
  StepMetrics since_evaluation_;  // of the weights in training
};

// --- Measurement ---
// The scores of a run's model, by `lm eval` or at the end of a training, as lines of evaluations.jsonl,
// which `lm table` reads.

/// Details as JSON; those with a dot in their names are members of objects.
nlohmann::ordered_json json_of(const std::vector<Detail>& details);
/// Scores as JSON: how the text was read, the count, the metrics, the details, the seconds.
nlohmann::ordered_json json_of(const Scores& scores);

/// Appends the scores of a run's model, which has the best weights, to evaluations.jsonl. `of_text` names
/// what was measured: {"split": ..., "task": ...}, or {"text": ...}. Error if it cannot be written.
void append_evaluation(const RunFolder& run, const nlohmann::ordered_json& of_text, const Scores& scores,
                       const Task& task, const Module& model, const Compute& compute,
                       const std::vector<std::string>& sha256_of_text);

/// Appends what was measured to evaluations.jsonl, with the version of the program, the device, and the
/// SHA-256 of the text; `entry` has that of the model. Error if it cannot be written.
void append_measurement(const RunFolder& run, nlohmann::ordered_json entry, const Compute& compute,
                        const std::vector<std::string>& sha256_of_text);

/// Measured numbers by their keys: "nats", "bits", "bleu", ... NaN stands for what is not finite.
using ScoreMap = std::map<std::string, double>;
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
/// Returns NaN if there is no such score.
double score_in(const ScoreMap& scores, const std::string& key);

/// How a score is shown.
struct ScoreStyle {
  std::string key, name;
  int digits = 2;
  bool higher_is_better = false;

  /// Whether every loss has it, in one unit or another.
  bool is_of_loss() const;
};
/// The scores that Rondo's tasks have, in the order of a table's columns: those of tasks, then those of every
/// loss.
const std::vector<ScoreStyle>& score_styles();
/// Of another score, its key is the name.
ScoreStyle score_style(const std::string& key);

}  // namespace rondo
