// The course of a training, as recorded in log.jsonl: steps, evaluations, and the last probe. It is written
// in lm/program/training_log.h. As diagrams: lm/program/training_curves.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/probe_report.h"
#include "lm/program/run_folder.h"

namespace rondo {

/// When something was logged. Older logs lack the last two in lines of steps: these are then interpolated
/// between evaluations; without an evaluation they are NaN.
struct LoggedMoment {
  std::int64_t step = 0;
  double epochs = 0, seconds = 0;  // trained so far; the time of all updates
};

/// The steps since the line before. What is not finite is NaN.
struct LoggedSteps {
  LoggedMoment when;
  double nats = 0, learning_rate = 0, gradient_norm = 0, per_second = 0;
};

/// An evaluation on the validation text during the training.
struct LoggedEvaluation {
  LoggedMoment when;
  double nats = 0;
  std::map<std::string, double> scores{};  // by key: lm/program/measurement.h
  bool best = false;                       // so far
};

struct TrainingHistory {
  std::vector<LoggedSteps> steps{};
  std::vector<LoggedEvaluation> evaluations{};
  std::string scored = "symbols";     // what `per_second` counts
  std::optional<ProbedRun> probed{};  // the last probe, with the history of all
};

/// InputError, naming the line, for a log that is broken. A run that has no log yet has no history.
TrainingHistory training_history(const RunFolder& run);

}  // namespace rondo
