// Runs and groups of runs as JSON.
#include "lm/program/table_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "lm/program/compared_settings.h"
#include "lm/program/published.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

std::string key_of(const MeasurementKind& kind) {
  if (kind.dynamic && kind.cache) return kind.split + "_both";
  std::string key = kind.name;
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

Json if_any(const std::optional<double>& figure) { return figure ? Json(*figure) : Json(); }

Json json_of(const std::optional<Measured>& it) {
  Json json{{"nats", nullptr},    {"bits", nullptr},     {"perplexity", nullptr}, {"bits_per_byte", nullptr},
            {"symbols", nullptr}, {"unknowns", nullptr}, {"read", nullptr}};
  if (!it) return json;
  json = {{"nats", it->nats},
          {"bits", if_any(it->bits)},
          {"perplexity", if_any(it->perplexity)},
          {"bits_per_byte", if_any(it->bits_per_byte)},
          {"symbols", it->symbols},
          {"unknowns", it->unknowns ? Json(*it->unknowns) : Json()},
          {"read", it->read}};
  for (const auto& [name, value] : it->scores) json[name] = value;
  if (!it->settings.empty()) json.update(Json::parse(it->settings));
  return json;
}

}  // namespace

Json json_of(const MeasuredRun& row) {
  const Recipe& recipe = row.recipe();
  Json json{
      {"run", row.run},
      {"recipe", recipe.name},
      {"paper", recipe.paper},
      {"unit", name_of(tokenization_of(recipe).unit)},
      {"cell", cell_of(recipe)},
      {"seed", recipe.trainer.seed},
      {"text", row.config.made_by.sha256.empty() ? Json() : Json(short_name_of_text(row.config.made_by))},
      {"finetuned", row.is_finetuned()},
      {"imported", row.is_imported()},
      {"begun_with",
       row.config.made_by.initialized_from.empty() ? Json() : Json(row.config.made_by.initialized_from)},
      {"vocabulary_size", row.vocabulary_size},
      {"parameters", row.parameters},
      {"published", published_json(changed_keys(recipe, row.is_finetuned()).empty() ? recipe.published
                                                                                    : PublishedFigures())}};
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) {
    const std::string key = key_of(kinds_of_measurement[k]);
    json[key] = json_of(row.measured[k]);
    const double figure = row.published(kinds_of_measurement[k], row.measured[k]);
    if (figure > 0) json[key]["published"] = figure;
  }
  for (const SentenceSetFigures& it : row.sentences) json["sentences"].push_back(json_of(it));
  json["finished"] = row.finished;
  if (row.has_unevaluated_model) json["model"] = "not evaluated";
  if (row.keeps_base) json["model"] = "unchanged";  // that of the run it began with
  json["steps"] = row.steps;
  json["epochs"] = row.epochs;
  json["epochs_trained"] = row.epochs_trained;
  json["epochs_planned"] = recipe.trainer.steps > 0 ? Json() : Json(recipe.trainer.epochs);
  json["training_seconds"] = if_any(row.training_seconds);
  json["settings"] = Json::object();
  Recipe settings = recipe;
  for (const Key& key : keys_of(settings)) json["settings"][key.name] = json_of_value(value_text(key));
  return json;
}

Json json_of(const MeasuredRuns& line, const std::vector<std::string>& keys) {
  const Recipe& recipe = line.front().recipe();
  Json json{{"recipe", recipe.name},
            {"settings", Json::object()},
            {"runs", Json::array()},
            {"seeds", Json::array()}};
  const std::vector<std::string> values = values_of(recipe, keys);
  for (std::size_t i = 0; i < keys.size(); ++i) json["settings"][keys[i]] = json_of_value(values[i]);
  for (const MeasuredRun& row : line) {
    json["runs"].push_back(row.run);
    json["seeds"].push_back(row.recipe().trainer.seed);
  }
  const auto add = [&](std::size_t k, const std::string& name, const Value& value) {
    if (const auto it = mean_of(line, k, value); it && it->n > 0)
      json[key_of(kinds_of_measurement[k])][name] = {
          {"mean", it->mean}, {"deviation", it->n > 1 ? Json(it->deviation) : Json()}, {"n", it->n}};
  };
  for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) {
    add(k, "nats", &Measured::nats);
    add(k, "bits", &Measured::bits);
    add(k, "perplexity", &Measured::perplexity);
    add(k, "bits_per_byte", &Measured::bits_per_byte);
    for (const auto& [key, name] : task_scores) add(k, key, score_of(key));
  }
  return json;
}

}  // namespace rondo
