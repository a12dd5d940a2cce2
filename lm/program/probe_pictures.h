// What probes of one or several runs have seen, as pictures: those of Figure 1 of Wu et al. 2016, and more.
// How they are drawn: lm/program/svg_plot.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lm/program/probe_report.h"

namespace rondo {

/// Names of files, and their contents. Of a kind of which there is nothing to draw, there is no picture.
///   gradients.svg            ln |dC/dh_t| by t
///   gradients_by_epoch.svg   the same at the first steps, of the probes in the runs' logs
///   validation.svg           the evaluations in the runs' logs
///   activations.svg, gates.svg, products.svg, singular_values.svg
std::vector<std::pair<std::string, std::string>> pictures_of(const std::vector<ProbedRun>& runs);

}  // namespace rondo
