// A measurement of a model by `lm eval` or at the end of a training, with its settings; as JSON, and stored
// with the run in evaluations.jsonl, which `lm table` reads. Next: lm/program/evaluation_report.h.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/evaluation/adaptive_evaluation.h"
#include "lm/evaluation/evaluation.h"
#include "lm/evaluation/tuning.h"
#include "lm/program/compute.h"
#include "lm/program/run_folder.h"

namespace rondo {

struct Measurement {
  std::string run, text;
  std::string model;  // SHA-256 of model.safetensors as it was read
  std::string cell;
  std::int64_t seed = 0, types = 0, vocabulary_size = 0, parameters = 0;
  std::string split;  // empty: another file
  Reading reading;
  Adaptation how;
  std::optional<Tuned> tuned;
  std::int64_t budget = 0;  // of the search
  Evaluation result;
  double published = 0;  // the paper's figure for the same kind of model, text and reading; 0: none
  PublishedUnit published_unit = PublishedUnit::perplexity;
};

/// {"run", "text", "split", "read", the settings of adaptive methods, "symbols", "nats", ...}: the output of
/// `lm eval --json`.
nlohmann::ordered_json json_of(const Measurement& measurement);
/// The figures of any model on a text.
nlohmann::ordered_json json_of(const Evaluation& it);
/// The settings of adaptive methods.
nlohmann::ordered_json json_of(const Adaptation& how);

/// Appends a measurement of the run's model to evaluations.jsonl, with the version of the program, the
/// device, and the SHA-256 of the model and of the text. Error if it cannot be written.
void keep(const RunFolder& run, const Measurement& measurement, const Compute& compute,
          const std::vector<std::string>& sha256_of_text);

/// Appends what was measured to evaluations.jsonl, with the version of the program, the device, and the
/// SHA-256 of the text; `entry` has that of the model. Error if it cannot be written.
void append_measurement(const RunFolder& run, nlohmann::ordered_json entry, const Compute& compute,
                        const std::vector<std::string>& sha256_of_text);

/// The scores of tasks other than language modelling: their keys in logs and measurements, and their names.
inline const std::vector<std::pair<std::string, std::string>> task_scores = {
    {"bleu", "BLEU"}, {"chrf", "chrF2"}, {"accuracy", "accuracy"}, {"cer", "CER"}, {"wer", "WER"}};
/// By key.
using TaskScores = std::map<std::string, double>;
/// The scores of an entry of a log or of measurements.
TaskScores task_scores_of(const nlohmann::json& entry);

/// A line of evaluations.jsonl, with what is needed to compare figures.
struct KeptMeasurement {
  std::string split, read, task;         // the task of a multi-task run; may be empty for the first one
  std::optional<Precision> precision{};  // none: unknown to this version
  bool dynamic = false, cache = false;
  std::string settings;  // of adaptive methods, as JSON; empty: none
  double nats = 0;
  std::optional<double> bits{}, perplexity{};  // not of all tasks
  std::optional<double> bits_per_byte{};       // nor with unknown symbols, whose bytes it does not predict
  std::int64_t symbols = 0, types = 0, vocabulary_size = 0, parameters = 0;
  std::optional<std::int64_t> unknowns{};
  std::vector<std::string> sha256;  // "HEX  FILE" of the text
  TaskScores scores{};
};
/// The stored measurements of the run's present model, in the order of measurement; those of its earlier
/// models are left out. (Without model.safetensors: of the model that was measured last.) InputError, naming
/// the line, for an invalid file.
std::vector<KeptMeasurement> kept_measurements(const RunFolder& run);

}  // namespace rondo
