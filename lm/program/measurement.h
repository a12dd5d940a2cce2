// The scores of a run's model, by `lm eval` or at the end of a training, as lines of evaluations.jsonl, which
// `lm table` reads. Next: lm/program/evaluation_report.h.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/compute.h"
#include "lm/program/run_folder.h"
#include "lm/tasks/task.h"

namespace rondo {

/// Scores as JSON: how the text was read, the count, the metrics, the details, the seconds.
nlohmann::ordered_json json_of(const Scores& scores);

/// Appends the scores of a run's model, which has the best weights, on a text to evaluations.jsonl. `of_text`
/// is
/// {"split": ..., "task": ...}, or {"text": ...}. Error if it cannot be written.
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
/// The styles of all that is in these scores, in the order of score_styles(), and the others before them.
std::vector<ScoreStyle> styles_of(const std::vector<const ScoreMap*>& scores);

/// A line of evaluations.jsonl, with what is needed to compare figures.
struct KeptMeasurement {
  std::string split, read, task;         // the task of a multi-task run; may be empty for the first one
  std::optional<Precision> precision{};  // none: unknown to this version
  bool dynamic = false, cache = false;
  std::string settings;  // of adaptive methods, as JSON; empty: none
  ScoreMap scores{};     // without bits per byte where symbols are unknown: it does not predict their bytes
  std::int64_t symbols = 0, types = 0, vocabulary_size = 0, parameters = 0;
  std::optional<std::int64_t> unknowns{};
  std::vector<std::string> sha256;  // "HEX  FILE" of the text
};
/// The stored measurements of the run's present model, in the order of measurement; those of its earlier
/// models are left out. (Without model.safetensors: of the model that was measured last.) InputError, naming
/// the line, for an invalid file.
std::vector<KeptMeasurement> kept_measurements(const RunFolder& run);

}  // namespace rondo
