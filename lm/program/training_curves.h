// The course of one or several trainings as diagrams: loss, scores, learning rate, norm of the gradients,
// speed. Where the numbers come from: lm/program/run_record.h.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/run_groups.h"
#include "lm/program/svg.h"

namespace rondo {

enum class CurveAxis { step, epoch, time };
inline std::vector<std::string> names_of(CurveAxis) { return {"step", "epoch", "time"}; }

struct CurveOptions {
  CurveAxis x = CurveAxis::epoch;
  std::optional<PublishedUnit> unit{};  // none: the usual one of the runs, else nats
};

/// Names that tell runs apart: their folders' names or, if two are the same, the whole paths.
std::vector<std::string> names_of_runs(const std::vector<std::string>& paths);

/// Diagrams by the names of their files, without ".svg"; none of what no run has logged. Every run has one
/// colour in all of them, and an entry in each legend. InputError if `options` do not fit the runs.
///   loss, one for each score such as bleu or accuracy, learning_rate, gradient_norm, speed
std::vector<std::pair<std::string, Plot>> curves_of(const Runs& runs, const CurveOptions& options);

/// Two files for other programs, by their names: training.csv, all lines of steps, and validation.csv, all
/// evaluations during the training. Losses are in nats.
std::vector<std::pair<std::string, std::string>> csv_of(const Runs& runs);

}  // namespace rondo
