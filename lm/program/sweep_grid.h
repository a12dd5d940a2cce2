// The runs of a sweep, from its lists of settings: every combination of their values, each with as many
// seeds as asked for. Training them: lm/commands/sweep.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/recipe.h"

namespace rondo {

/// A setting with its values, or several that vary together.
struct SweptSettings {
  std::string where;  // "--set model.hidden=800,900"
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values;  // choices, each with a value for each key
};

/// From what `--set` got: "KEY=VALUE,VALUE,..."; for settings that vary together
/// "KEY:KEY=VALUE:VALUE,VALUE:VALUE,...". Commas and colons within [ ], within a value in quotes, and colons
/// where there is only one key, are a part of the value. InputError for anything else.
SweptSettings parse_swept(const std::string& text);

struct SweepRun {
  std::string name;               // of its folder: "hidden=800_seed=1"
  std::vector<Setting> settings;  // as for `lm train`, without the seed
  Recipe recipe;
  std::int64_t seed = 1;
};

/// In the order of the settings; the last one varies fastest, the seed faster. Seeds are numbered from the
/// recipe's train.seed, unless that is swept. InputError for a bad recipe, key or value, for values and keys
/// that are given twice, and if settings contradict each other, with the combination that does.
std::vector<SweepRun> runs_of_sweep(const std::string& recipe, const std::vector<SweptSettings>& swept,
                                    std::optional<std::int64_t> seeds);

/// The value of a key for a reader: strings without quotes, lists of one number as that number.
std::string shown_value(const Key& key);
/// The part of a key's name after the section, or all of it if another of `keys` has the same.
std::string shown_name(const std::string& key, const std::vector<std::string>& keys);

}  // namespace rondo
