// `lm plot`: the course of trainings, sweeps, probes and attention as a page of diagrams, as pictures and as
// CSV. Everything comes from the folders of the runs. The page: lm/program/plot_page.h.
#pragma once

#include <string>
#include <vector>

#include "lm/program/sweep_report.h"
#include "lm/program/training_curves.h"

namespace rondo {

struct PlotOptions {
  std::vector<std::string> runs;  // run folders, or folders of sweeps
  std::string out;                // the page; empty: plot.html, of one run or sweep in its folder
  std::string svg, csv;           // folders; empty: none
  std::string attention;          // a file of --attention of `lm translate`; empty: none
  CurveOptions curves{};
  SweepPlotOptions drawn{};
};

/// Writes the page and prints its name on stdout. Returns 0, or 2 if a run was left out, which a line on
/// stderr names.
int plot(const PlotOptions& options);

}  // namespace rondo
