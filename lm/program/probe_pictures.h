// What probes of one or several runs have seen, as pictures: those of Figure 1 of Wu et al. 2016, and more.
// How they are drawn: lm/program/svg.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/run_record.h"

namespace rondo {

/// A probe of a run's model on one of its texts, beside what the run's log has.
struct ProbedRun {
  std::shared_ptr<const RunRecord> run;
  std::string split;
  Probed probed;
};

/// Names of files, and their contents. Kinds without data are omitted.
///   gradients.svg            ln |dC/dh_t| by t
///   gradients_by_epoch.svg   the same at the first steps, of the probes in the runs' logs
///   validation.svg           the evaluations in the runs' logs
///   activations.svg, gates.svg, products.svg, singular_values.svg
std::vector<std::pair<std::string, std::string>> pictures_of(const std::vector<ProbedRun>& runs);

}  // namespace rondo
