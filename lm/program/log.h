// What a run records: its log, its measurements, and events for TensorBoard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

// --- TensorBoard ---
// TensorBoard's event files, `train.tensorboard`: what log.jsonl has, written a second time as TensorBoard
// reads it. A file is a sequence of records with checksums (TFRecord), each an Event in the encoding of
// Protocol Buffers; the few fields that are needed are encoded here.

/// CRC-32C (Castagnoli), as of iSCSI: RFC 3720, B.4.
std::uint32_t crc32c(std::string_view bytes);

/// The event file of a training, beside its log. A line of log.jsonl has its numbers as train/KEY, or
/// valid/KEY, test/KEY, ... for evaluations; of probes as probe/KEY, with ln |dC/dh_t| of steps 0, 5 and 10,
/// and histograms of activations and gates.
class TensorBoardLog {
 public:
  /// Makes a new file for a training that begins, or goes on, after `step` updates. Of what earlier files
  /// have, TensorBoard then forgets all from that step on: the file begins with those lines of the log that
  /// belong there. So it shows what the log has.
  TensorBoardLog(const RunFolder& run, std::int64_t step);

  /// A line of the log; one without "step" belongs to the step of the line before. If the file cannot be
  /// written, one warning on stderr says so, and nothing more is written.
  void add(const nlohmann::ordered_json& line);

 private:
  void write(const std::string& event);
  void warn() const;

  std::filesystem::path path_;
  std::int64_t step_;
  std::ofstream file_;
};

// --- Training log ---
// log.jsonl as an observer of a training: a line every train.log_every steps, and one for each evaluation.

class TrainingLog : public Observer {
 public:
  /// Continues at a position in bytes, after `step` updates; the rest of the file is cut off.
  TrainingLog(const Recipe& recipe, const RunFolder& run, int64_t position, int64_t step, Device device)
      : recipe_(recipe), file_(run.log(), position, is_json_object), device_(device) {
    if (recipe.run.tensorboard) tensorboard_.emplace(run, step);
  }

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
  std::optional<TensorBoardLog> tensorboard_;
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
