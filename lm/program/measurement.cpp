// Measurements as JSON, and kept with their run.
#include "lm/program/measurement.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "data/files.h"
#include "data/input_file.h"
#include "lm/program/json_lines.h"
#include "lm/program/version.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

/// Sets a value in an object; the part of its name before a dot is that of an object in it.
void set_at(Json& json, const std::string& name, const Json& value) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos)
    json[name] = value;
  else
    json[name.substr(0, dot)][name.substr(dot + 1)] = value;
}

/// The settings of adaptive methods, without counts.
std::string settings_of(const nlohmann::json& entry) {
  nlohmann::json settings = nlohmann::json::object();
  for (const char* section : {"dynamic", "cache"})
    if (entry.contains(section)) settings[section] = entry.at(section);
  if (settings.contains("dynamic"))
    for (const char* counted : {"statistics_symbols", "statistics_batches"})
      settings["dynamic"].erase(counted);
  return settings.empty() ? "" : settings.dump();
}

/// The scores of an entry, by its list of metrics; earlier versions kept none.
ScoreMap scores_of(const nlohmann::json& entry) {
  std::vector<std::string> names;
  for (const ScoreStyle& it : score_styles()) names.push_back(it.key);
  if (entry.contains("metrics")) {
    names = entry.at("metrics").get<std::vector<std::string>>();
    names.emplace_back("bits_per_byte");  // a detail
  }
  ScoreMap scores;
  for (const std::string& name : names)
    if (entry.contains(name)) scores[name] = figure_at(entry, name);
  if (entry.value("unknowns", 0) > 0) scores.erase("bits_per_byte");
  return scores;
}

KeptMeasurement measurement_of(const nlohmann::json& entry) {
  return {
      .split = entry.value("split", ""),
      .read = entry.at("read"),
      .task = entry.value("task", ""),
      .precision = value_named<Precision>(entry.at("precision").get<std::string>()),
      .dynamic = entry.contains("dynamic"),
      .cache = entry.contains("cache"),
      .settings = settings_of(entry),
      .scores = scores_of(entry),
      .symbols = entry.contains("symbols") ? integer_at(entry, "symbols") : 0,
      .types = integer_at(entry, "types"),
      .vocabulary_size = integer_at(entry, "vocabulary_size"),
      .parameters = integer_at(entry, "parameters"),
      .unknowns = entry.contains("unknowns") ? std::optional(integer_at(entry, "unknowns")) : std::nullopt,
      .sha256 = entry.at("sha256")};
}

}  // namespace

double score_in(const ScoreMap& scores, const std::string& key) {
  const auto found = scores.find(key);
  return found == scores.end() ? not_known : found->second;
}

bool ScoreStyle::is_of_loss() const {
  return key == "nats" || key == "bits" || key == "perplexity" || key == "bits_per_byte";
}

const std::vector<ScoreStyle>& score_styles() {
  static const std::vector<ScoreStyle> known = {{"bleu", "BLEU", 2, true},
                                                {"chrf", "chrF2", 2, true},
                                                {"pearson", "r", 4},
                                                {"spearman", "rho", 4},
                                                {"mse", "MSE", 4},
                                                {"accuracy", "accuracy", 2, true},
                                                {"f1", "F1", 2},
                                                {"cer", "CER"},
                                                {"wer", "WER"},
                                                {"nats", "nats", 4},
                                                {"bits", "bits", 4},
                                                {"perplexity", "perplexity", 2},
                                                {"bits_per_byte", "bits/byte", 4}};
  return known;
}

ScoreStyle score_style(const std::string& key) {
  const auto found = std::find_if(score_styles().begin(), score_styles().end(),
                                  [&](const ScoreStyle& it) { return it.key == key; });
  return found == score_styles().end() ? ScoreStyle{key, key} : *found;
}

std::vector<ScoreStyle> styles_of(const std::vector<const ScoreMap*>& scores) {
  std::set<std::string> keys;
  for (const ScoreMap* map : scores)
    for (const auto& [key, value] : *map) keys.insert(key);
  std::vector<ScoreStyle> known;
  for (const ScoreStyle& it : score_styles())
    if (keys.erase(it.key) > 0) known.push_back(it);
  std::vector<ScoreStyle> styles;
  for (const std::string& key : keys) styles.push_back(score_style(key));
  styles.insert(styles.end(), known.begin(), known.end());
  return styles;
}

Json json_of(const Scores& scores) {
  Json json{{"read", scores.read}, {scores.unit, scores.count}};
  for (const auto& [name, value] : scores.metrics) json[name] = value;
  for (const Detail& it : scores.details)
    std::visit([&](const auto& value) { set_at(json, it.name, value); }, it.value);
  json["seconds"] = scores.seconds;
  return json;
}

void append_evaluation(const RunFolder& run, const Json& of_text, const Scores& scores, const Task& task,
                       const Module& model, const Compute& compute,
                       const std::vector<std::string>& sha256_of_text) {
  Json json = of_text;
  json.update(json_of(scores));
  for (const Metric& it : scores.metrics) json["metrics"].push_back(it.name);
  json["types"] = task.vocabulary().types();
  json["vocabulary_size"] = task.vocabulary().size();
  json["parameters"] = model.parameter_count();
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, sha256_of_text);
}

void append_measurement(const RunFolder& run, Json json, const Compute& compute,
                        const std::vector<std::string>& sha256_of_text) {
  json["time"] = time_text();
  json["version"] = version();
  json["device"] = name_of(compute.device);
  json["precision"] = name_of(compute.precision);
  json["threads"] = compute.threads;
  json["sha256"] = sha256_of_text;
  append_line(run.evaluations(), json.dump(-1, ' ', false, Json::error_handler_t::replace), is_json_object);
}

std::vector<KeptMeasurement> kept_measurements(const RunFolder& run) {
  std::vector<std::pair<std::string, KeptMeasurement>> all;  // each with the SHA-256 of its model
  read_json_lines(run.evaluations(), "`lm eval` keeps", [&](const nlohmann::json& entry) {
    if (entry.contains("set")) return true;  // of vectors: lm/program/sentence_report.h
    KeptMeasurement it = measurement_of(entry);
    check_input(!it.scores.empty(), "no score");
    const bool is_finite = std::any_of(it.scores.begin(), it.scores.end(),
                                       [](const auto& of) { return std::isfinite(of.second); });
    if (is_finite) all.emplace_back(entry.at("model"), std::move(it));  // else a symbol had probability 0
    return true;
  });
  std::vector<KeptMeasurement> kept;
  if (all.empty()) return kept;
  const std::string model =
      file_is_there(run.model()) ? sha256_hex(InputFile(run.model())) : all.back().first;
  for (auto& [of, it] : all)
    if (of == model) kept.push_back(std::move(it));
  return kept;
}

}  // namespace rondo
