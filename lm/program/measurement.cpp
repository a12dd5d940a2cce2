// Measurements as JSON, and kept with their run.
#include "lm/program/measurement.h"

#include "data/files.h"
#include "data/input_file.h"
#include "lm/program/json_lines.h"
#include "lm/program/version.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const DynamicOptions& it) {
  return {{"learning_rate", it.learning_rate},
          {"decay", it.decay},
          {"epsilon", it.epsilon},
          {"length", it.length},
          {"style", name_of(it.style)},
          {"statistics_streams", it.statistics_streams}};
}
Json json_of(const CacheOptions& it) {
  return {{"window", it.window}, {"theta", it.theta}, {"lambda", it.lambda}};
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

KeptMeasurement measurement_of(const nlohmann::json& entry) {
  return {
      .split = entry.value("split", ""),
      .read = entry.at("read"),
      .task = entry.value("task", ""),
      .precision = value_named<Precision>(entry.at("precision").get<std::string>()),
      .dynamic = entry.contains("dynamic"),
      .cache = entry.contains("cache"),
      .settings = settings_of(entry),
      .nats = figure_at(entry, "nats"),
      .bits = optional_figure_at(entry, "bits"),
      .perplexity = optional_figure_at(entry, "perplexity"),
      .bits_per_byte =
          entry.value("unknowns", 0) == 0 ? optional_figure_at(entry, "bits_per_byte") : std::nullopt,
      .symbols = entry.contains("symbols") ? integer_at(entry, "symbols") : 0,
      .types = integer_at(entry, "types"),
      .vocabulary_size = integer_at(entry, "vocabulary_size"),
      .parameters = integer_at(entry, "parameters"),
      .unknowns = entry.contains("unknowns") ? std::optional(integer_at(entry, "unknowns")) : std::nullopt,
      .sha256 = entry.at("sha256"),
      .scores = task_scores_of(entry)};
}

}  // namespace

TaskScores task_scores_of(const nlohmann::json& entry) {
  TaskScores scores;
  for (const auto& [key, name] : task_scores)
    if (entry.contains(key)) scores[key] = figure_at(entry, key);
  return scores;
}

Json json_of(const Adaptation& how) {
  Json json = Json::object();
  if (how.dynamic) json["dynamic"] = json_of(*how.dynamic);
  if (how.cache) json["cache"] = json_of(*how.cache);
  return json;
}

Json json_of(const Evaluation& it) {
  Json json{
      {"symbols", it.symbols}, {"nats", it.nats()}, {"bits", it.bits()}, {"perplexity", it.perplexity()}};
  if (it.bytes > 0) json["bits_per_byte"] = it.bits_per_byte();
  json["unknowns"] = it.unknowns;
  if (it.unknowns > 0 && it.unknowns < it.symbols)
    json["perplexity_without_unknowns"] = it.perplexity_without_unknowns();
  json["seconds"] = it.seconds;
  return json;
}

Json json_of(const Measurement& measurement) {
  const auto& [run, text, model, cell, seed, types, vocabulary_size, parameters, split, reading, how, tuned,
               budget, it, published, published_unit] = measurement;
  Json json{{"run", run}, {"cell", cell}, {"seed", seed}, {"text", text}};
  if (!split.empty()) json["split"] = split;
  json["read"] = reading.text();
  if (reading.line_end)
    json["by_lines"] = true;
  else if (reading.sequence > 0)
    json["sequence"] = reading.sequence;
  else
    json["streams"] = reading.streams;
  json.update(json_of(how));
  if (how.dynamic) {
    json["dynamic"]["statistics_symbols"] = how.statistics->symbols;
    json["dynamic"]["statistics_batches"] = how.statistics->batches;
  }
  if (published > 0) json["published"] = {{"figure", published}, {"unit", name_of(published_unit)}};
  json.update(json_of(it));
  return json;
}

void append_measurement(const RunFolder& run, Json json, const Compute& compute,
                        const std::vector<std::string>& sha256_of_text) {
  for (const char* of_run : {"run", "cell", "seed"}) json.erase(of_run);  // they are in its folder
  if (json.value("text", "").empty()) json.erase("text");                 // at the end of a training
  json["time"] = time_text();
  json["version"] = version();
  json["device"] = name_of(compute.device);
  json["precision"] = name_of(compute.precision);
  json["threads"] = compute.threads;
  json["sha256"] = sha256_of_text;
  append_line(run.evaluations(), json.dump(-1, ' ', false, Json::error_handler_t::replace), is_json_object);
}

void keep(const RunFolder& run, const Measurement& measurement, const Compute& compute,
          const std::vector<std::string>& sha256_of_text) {
  Json json = json_of(measurement);
  json.erase("published");  // that is the recipe's
  json["types"] = measurement.types;
  json["vocabulary_size"] = measurement.vocabulary_size;
  json["parameters"] = measurement.parameters;
  if (measurement.tuned) json["tuned_on_valid"] = measurement.tuned->symbols;
  json["model"] = measurement.model;
  append_measurement(run, std::move(json), compute, sha256_of_text);
}

std::vector<KeptMeasurement> kept_measurements(const RunFolder& run) {
  std::vector<std::pair<std::string, KeptMeasurement>> all;  // each with the SHA-256 of its model
  read_json_lines(run.evaluations(), "`lm eval` keeps", [&](const nlohmann::json& entry) {
    if (entry.contains("set")) return true;  // of vectors: lm/program/sentence_report.h
    if (entry.at("nats").is_null() && task_scores_of(entry).empty())
      return true;  // infinite: a symbol had probability 0
    all.emplace_back(entry.at("model"), measurement_of(entry));
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
