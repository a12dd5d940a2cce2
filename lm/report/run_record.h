// The record of a run: its settings, the course of its training, and what was measured of its best model;
// from config.toml, log.jsonl and evaluations.jsonl in its folder. `lm table`, the report of a sweep and `lm
// plot` read nothing else. Groups of runs, and means over them: lm/report/run_groups.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/log.h"
#include "lm/program/probe_report.h"
#include "lm/program/run.h"
#include "lm/report/sentences.h"

namespace rondo {

/// A kind of measurement: its name in tables and in JSON, and what was measured.
struct MeasurementKind {
  std::string name, key, split;
  bool dynamic = false, cache = false;

  bool is_plain() const { return !dynamic && !cache; }
};
inline const std::vector<MeasurementKind> kinds_of_measurement = {
    {"test", "test", "test"},
    {"test dynamic", "test_dynamic", "test", true},
    {"test cache", "test_cache", "test", false, true},
    {"test dynamic+cache", "test_both", "test", true, true},
    {"valid", "valid", "valid"},
    {"valid dynamic", "valid_dynamic", "valid", true},
    {"valid cache", "valid_cache", "valid", false, true},
    {"valid dynamic+cache", "valid_both", "valid", true, true},
    {"speakers", "speakers", "speakers"},
};
constexpr std::size_t test_kind = 0, valid_kind = 4;

/// What was measured of a run's best model, and how.
struct KeptMeasurement {
  ScoreMap scores{};  // without bits per byte where symbols are unknown: it does not predict their bytes
  std::int64_t symbols = 0;
  std::optional<std::int64_t> unknowns{};
  std::string read{};
  std::string settings{};  // of adaptive methods, as JSON; empty: none
};

/// When something was logged. Logs of version 0.2 have whole epochs, and no time.
struct LoggedMoment {
  std::int64_t step = 0;
  double epochs = not_known, seconds = not_known;  // trained so far; the time of all updates
};

/// The steps since the line before.
struct LoggedSteps {
  LoggedMoment when;
  double nats = not_known, learning_rate = not_known, gradient_norm = not_known;
};

/// An evaluation on the validation text during the training.
struct LoggedEvaluation {
  LoggedMoment when;
  std::int64_t epoch = 0;
  ScoreMap scores{};
  bool best = false;  // so far
};

/// What is known of a run. A folder of docs/runs, which has no vocabulary and no model, is one, too.
struct RunRecord {
  std::string path;
  RunConfig config;
  std::int64_t vocabulary_size = 0, types = 0, parameters = 0;
  bool finished = false;
  bool keeps_base = false;  // no evaluation was better than that of the weights it began with

  std::vector<LoggedSteps> steps{};
  std::vector<LoggedEvaluation> evaluations{};
  std::vector<ProbeOfEpoch> probes{};

  /// By kind; from the log or from evaluations.jsonl.
  std::vector<std::optional<KeptMeasurement>> measured{kinds_of_measurement.size()};
  std::vector<SentenceSetFigures> sentences{};  // of a skip-thought model

  const Recipe& recipe() const { return config.recipe; }
  /// Returns the last evaluation during the training; if there was none, one of step 0.
  LoggedEvaluation last_evaluation() const {
    return evaluations.empty() ? LoggedEvaluation{.when = {0, 0, not_known}} : evaluations.back();
  }
  bool is_finetuned() const { return config.made_by.is_finetuned(); }
  /// Returns why the paper's results are not those of such a run; empty: they are, or there are none.
  std::string why_not_published() const;
  /// Returns the paper's result for the same kind of model, trained to its end, on the same text, read in the
  /// same way; 0 if there is none.
  double published(std::size_t kind) const;
};

/// Reads a run's settings and its log alone. Throws InputErrors of the folder and of its files.
RunRecord read_log(const std::string& path);
/// Reads a run's folder. Throws the same InputErrors.
RunRecord read_run(const std::string& path);

}  // namespace rondo
