// A figure and how it came about: what `lm eval` and the end of a training measure of a model, as JSON, and
// kept with the run in evaluations.jsonl, which `lm table` reads. Next: lm/program/evaluation_report.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
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
  std::int64_t types = 0, vocabulary_size = 0, parameters = 0;
  std::string split;  // empty: a file of the user's
  Reading reading;
  Adaptation how;
  std::optional<Tuned> tuned;
  std::int64_t budget = 0;  // of tuning
  Evaluation result;
  double published = 0;  // the paper's figure of such a model on this text, read so; 0: none
  PublishedUnit published_unit = PublishedUnit::perplexity;
};

/// {"run", "text", "split", "read", the settings of what adapts, "symbols", "nats", ...}: what `lm eval
/// --json` prints.
nlohmann::ordered_json json_of(const Measurement& measurement);
/// The figures of a text, of whatever model.
nlohmann::ordered_json json_of(const Evaluation& it);
/// The settings of what adapts.
nlohmann::ordered_json json_of(const Adaptation& how);

/// Appends a measurement of the run's model to evaluations.jsonl, with the version of the program, where it
/// was computed, and the SHA-256 of the model and of the text. Error if it cannot be written.
void keep(const RunFolder& run, const Measurement& measurement, const Compute& compute,
          const std::vector<std::string>& sha256_of_text);

/// A line of evaluations.jsonl, as far as figures can be compared by it.
struct KeptMeasurement {
  std::string split, read;
  std::optional<Precision> precision{};  // none: one that is not known here
  bool dynamic = false, cache = false;
  std::string settings;  // of what adapts, as JSON; empty: nothing
  double nats = 0, bits = 0, perplexity = 0;
  std::int64_t symbols = 0, types = 0, vocabulary_size = 0, parameters = 0;
  std::vector<std::string> sha256;  // "HEX  FILE" of the text
};
/// What is kept of the run's model as it is now, in the order of measuring; measurements of models that it
/// had before are left out. (Without model.safetensors: of the model that was measured last.) InputError,
/// naming the line, for what is no such file.
std::vector<KeptMeasurement> kept_measurements(const RunFolder& run);

}  // namespace rondo
