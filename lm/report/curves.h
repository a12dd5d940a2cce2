// Pictures of a training: learning curves, and what probes have seen.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/report/run_groups.h"
#include "lm/report/run_record.h"
#include "lm/report/svg.h"

namespace rondo {

// --- Training curves ---
// The course of one or several trainings as diagrams: loss, scores, learning rate, norm of the gradients,
// speed. Where the numbers come from: lm/report/run_record.h.

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

// --- Probe pictures ---
// What probes of one or several runs have seen, as pictures: those of Figure 1 of Wu et al. 2016, and more.
// How they are drawn: lm/report/svg.h.

/// A probe of a run's model on one of its texts, beside what the run's log has.
struct ProbedRun {
  std::shared_ptr<const RunRecord> run;
  std::string split;
  Probed probed;
};

/// Names of files, and their contents. Kinds without data are omitted.
///   gradients.svg            ln |dC/dh_t| by t
///   gradients_by_epoch.svg   the same at the first steps, of the probes in the runs' logs
///   activations.svg, gates.svg, products.svg, singular_values.svg
std::vector<std::pair<std::string, std::string>> pictures_of(const std::vector<ProbedRun>& runs);

}  // namespace rondo
