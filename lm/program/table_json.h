// Runs and groups of runs as JSON: the output of `lm table --json`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lm/program/measured_runs.h"

namespace rondo {

nlohmann::ordered_json json_of(const MeasuredRun& row);

/// A group of runs: what they have in common, with the values of these settings, and means.
nlohmann::ordered_json json_of(const MeasuredRuns& line, const std::vector<std::string>& keys);

}  // namespace rondo
