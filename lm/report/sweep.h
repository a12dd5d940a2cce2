// A sweep: the runs that its lists of settings make, and the diagram of what they have found. Training them:
// lm/commands/sweep.cpp; their table is that of any runs: lm/report/run_groups.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/recipe.h"
#include "lm/report/run_groups.h"
#include "lm/report/svg.h"

namespace rondo {

// --- Grid ---
// Every combination of the values of the settings, each with as many seeds as asked for.

/// A setting with its values, or several that vary together.
struct SweptSettings {
  std::string where;  // "--set model.hidden=800,900"
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values;  // choices, each with a value for each key
};

/// From what `--set` got: "KEY=VALUE,VALUE,..."; for settings that vary together
/// "KEY:KEY=VALUE:VALUE,VALUE:VALUE,...". Commas and colons within [ ] or quotes, and colons where there is
/// only one key, are a part of the value. InputError for anything else.
SweptSettings parse_swept(const std::string& text);

struct SweepRun {
  std::string name;               // of its folder: "hidden=800_seed=1"
  std::vector<Setting> settings;  // as for `lm train`, the seed among them
  Recipe recipe;
};

/// In the order of the settings; the last one varies fastest, the seed faster. Seeds are numbered from the
/// recipe's train.seed on, unless that is swept. InputError for a bad recipe, key or value, for values and
/// keys that are given twice, and if settings contradict each other, with the combination that does.
std::vector<SweepRun> runs_of_sweep(const std::string& recipe, const std::vector<SweptSettings>& swept,
                                    std::optional<std::int64_t> seeds);

// --- Diagram ---
// A point for each combination of settings: the mean over its seeds of the score by which runs are compared.

/// Makes the diagrams of the finished ones of these runs where there is something to draw: "" of the
/// validation text, "_test" of the test text, "_time" of the training time. The x axis is the only key whose
/// values are numbers; if there are several, the number of parameters or, if that does not tell the runs
/// apart, the last of them that does; if none does, the last of them, and the others name the curves. Where
/// curves would be single points, each run has a tick. InputError if the runs are of several recipes.
std::map<std::string, Plot> plots_of_sweep(const Runs& runs);

}  // namespace rondo
