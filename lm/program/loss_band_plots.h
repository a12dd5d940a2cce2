// The losses of runs by position and by the frequency of the symbol, as diagrams and as CSV: what a training
// or `lm eval` has kept in evaluations.jsonl. The bands: lm/evaluation/loss_bands.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lm/program/svg_plot.h"
#include "lm/program/training_curves.h"

namespace rondo {

/// Diagrams by the names of their files, without ".svg": loss_by_position, loss_by_frequency; each is the
/// loss and, below it, the number of symbols. Curves are all kinds of measurement of the test text or, of a
/// run that has none, of the validation text. Empty if no run has any. InputError if `options` do not fit the
/// runs.
std::vector<std::pair<std::string, std::vector<Plot>>> loss_band_plots_of(const std::vector<PlottedRun>& runs,
                                                                          const CurveOptions& options);

/// loss_by_position.csv and loss_by_frequency.csv, of all texts, losses in nats; empty if no run has any.
std::vector<std::pair<std::string, std::string>> loss_band_csv_of(const std::vector<PlottedRun>& runs);

}  // namespace rondo
