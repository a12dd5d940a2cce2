// What a run records: its log, and measurements of its model.
#pragma once

#include <cstdint>
#include <filesystem>
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
#include "lm/training/observer.h"

namespace rondo {

// --- Training log ---
// log.jsonl as an observer of a training: a line every train.log_every steps, and one for each evaluation.

class TrainingLog : public Observer {
 public:
  /// Continues at a position in bytes; the rest of the file is cut off.
  TrainingLog(const Recipe& recipe, const RunFolder& run, int64_t position, Device device)
      : recipe_(recipe), file_(run.log(), position, is_json_object), device_(device) {}

  bool is_due(const Trainer& trainer) const override {
    return trainer.step_count() % recipe_.run.log_every == 0;
  }
  void updated(const Trainer& trainer, const StepMetrics& metrics) override;
  void validated(const Trainer& trainer, const Scores& scores, bool best) override;
  void began_with(const Scores& scores) override;
  void measured(const std::string& split, const Scores& scores) override;

  /// A look into the model after some epochs, 0 before the first one.
  void probed(const Trainer& trainer, int64_t epochs, const Probed& what);

  /// A measurement beside the validation, such as that of sentence vectors.
  void measured_meanwhile(const Trainer& trainer, const nlohmann::ordered_json& figure);

  /// The training has been stopped before its end. `unevaluated`: the model that is kept is that of this
  /// step, and not evaluated. A resumed training removes the line.
  void stopped(const Trainer& trainer, bool unevaluated);

  /// Writes everything to the disk and returns the size in bytes.
  int64_t sync() { return file_.sync(); }

 private:
  /// `entry` says when it was made.
  void evaluation(nlohmann::ordered_json entry, const std::string& split, const Scores& scores, bool best);

  /// Writes an entry, after the kind of event and the time.
  void append(const std::string& event, const nlohmann::ordered_json& entry);

  const Recipe& recipe_;
  LineFile file_;
  Device device_;
  Window window_;  // since the last line
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
