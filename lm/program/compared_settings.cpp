// Settings of several runs side by side.
#include "lm/program/compared_settings.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "lm/program/sweep_grid.h"
#include "lm/program/text_table.h"

namespace rondo {
namespace {

/// The settings of a recipe that a reader compares, as shown.
std::map<std::string, std::string> shown_settings(Recipe recipe) {
  std::map<std::string, std::string> settings;
  for (const Key& key : keys_of(recipe)) settings[key.name] = shown_value(key);
  return settings;
}

}  // namespace

bool is_before(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const std::string& x, const std::string& y) {
        const std::optional<double> of_x = number_of(x), of_y = number_of(y);
        if (of_x && of_y && *of_x != *of_y) return *of_x < *of_y;
        return of_x.has_value() != of_y.has_value() ? of_x.has_value() : x < y;
      });
}

std::vector<std::string> differing_keys(const MeasuredRuns& runs) {
  std::vector<std::string> keys;
  const auto first = shown_settings(without_seed(runs.front()));
  std::map<std::string, bool> differs;
  for (const MeasuredRun& run : runs)
    for (const auto& [key, value] : shown_settings(without_seed(run)))
      differs[key] |= first.count(key) == 0 || first.at(key) != value;
  // Without pieces their settings say nothing; their defaults have changed between versions.
  const bool any_has_pieces = std::any_of(runs.begin(), runs.end(), [](const MeasuredRun& run) {
    return tokenization_of(run.recipe()).unit == Unit::pieces;
  });
  // Settings of finetuning say nothing about a run that was not finetuned.
  const bool all_are_finetuned = std::all_of(runs.begin(), runs.end(), [](const MeasuredRun& run) {
    return !run.config.made_by.finetuned_from.empty();
  });
  Recipe recipe = runs.front().recipe();
  for (const Key& key : keys_of(recipe))
    if (differs[key.name] && (any_has_pieces || !key.name.starts_with("data.pieces")) &&
        (all_are_finetuned || !key.name.starts_with("finetune.")))
      keys.push_back(key.name);
  return keys;
}

nlohmann::ordered_json json_of_value(const std::string& value) {
  using Json = nlohmann::ordered_json;
  if (value == dash) return {};
  return Json::accept(value) ? Json::parse(value) : Json(value);
}

std::vector<std::string> values_of(const Recipe& recipe, const std::vector<std::string>& keys) {
  const auto settings = shown_settings(recipe);
  std::vector<std::string> values;
  for (const std::string& key : keys) {
    const auto found = settings.find(key);
    values.push_back(found == settings.end() ? dash : found->second);
  }
  return values;
}

}  // namespace rondo
