// Settings of several runs side by side: which differ, and their values. For `lm table` and the report of a
// sweep.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lm/program/measured_runs.h"

namespace rondo {

/// The keys whose values are not the same in all runs, in the recipe's order, without the seed and without
/// what affects no figure. Runs may be of several tasks.
std::vector<std::string> differing_keys(const MeasuredRuns& runs);

/// The values of these keys, as shown; a dash for one that the recipe's task does not have.
std::vector<std::string> values_of(const Recipe& recipe, const std::vector<std::string>& keys);

/// A value as shown or as TOML, in JSON: a number, true or false, a list or a text; null for a dash.
nlohmann::ordered_json json_of_value(const std::string& value);

/// Whether one row of values comes before another: numbers by their size, then texts.
bool is_before(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace rondo
