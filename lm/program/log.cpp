// The log of a training, and measurements, as lines of JSON.
#include "lm/program/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "lm/program/files.h"
#include "lm/program/probe_report.h"
#include "lm/program/run.h"
#include "tensor/allocator.h"

namespace rondo {

// --- Training log ---

namespace {

using Json = nlohmann::ordered_json;

/// Where a training is, after its last update.
Json place_of(const Trainer& trainer) {
  return {{"step", trainer.step_count()},
          {"epoch", trainer.epoch()},
          {"epochs_trained", static_cast<double>(trainer.epoch() - 1) + trainer.objective().epoch_fraction()},
          {"training_seconds", trainer.seconds()}};
}

}  // namespace

void TrainingLog::append(const std::string& event, const Json& entry) {
  Json line{{"event", event}, {"time", time_text()}};
  line.update(entry);
  file_.append(line.dump());
}

void TrainingLog::stopped(const Trainer& trainer, bool unevaluated) {
  append("stopped", {{"step", trainer.step_count()},
                     {"epoch", trainer.epoch()},
                     {"training_seconds", trainer.seconds()},
                     {"model_is_evaluated", !unevaluated}});
}

void TrainingLog::updated(const Trainer& trainer, const StepMetrics& metrics) {
  if (metrics.scored == 0) return;
  window_.add(metrics);
  if (!is_due(trainer)) return;
  Json entry = place_of(trainer);
  entry.update({{"nats", window_.loss()},
                {"learning_rate", trainer.learning_rate()},
                {"gradient_norm", metrics.gradient_norm},
                {trainer.objective().scored_items() + "_per_second", window_.symbols_per_second()}});
  append("steps", entry);
  window_ = {};
}

void TrainingLog::validated(const Trainer& trainer, const Scores& scores, bool best) {
  Json entry = place_of(trainer);
  if (trainer.step_count() > 0) entry["learning_rate"] = trainer.learning_rate();
  evaluation(std::move(entry), "valid", scores, best);
}
void TrainingLog::began_with(const Scores& scores) {
  evaluation({{"step", 0}, {"epoch", 0}, {"epochs_trained", 0.0}, {"training_seconds", 0.0}}, "valid", scores,
             true);
}
void TrainingLog::measured(const std::string& split, const Scores& scores) {
  evaluation(Json::object(), split, scores, true);
}

void TrainingLog::probed(const Trainer& trainer, int64_t epochs, const Probed& what) {
  Json entry{{"step", trainer.step_count()}, {"epoch", epochs}, {"probed", "train"}};
  entry.update(json_of(what));
  append("probe", entry);
}

void TrainingLog::measured_meanwhile(const Trainer& trainer, const Json& figure) {
  Json entry{{"step", trainer.step_count()}, {"epoch", trainer.epoch()}};
  entry.update(figure);
  append("sentences", entry);
}

void TrainingLog::evaluation(Json entry, const std::string& split, const Scores& scores, bool best) {
  entry["split"] = split;
  for (const auto& [name, value] : scores.metrics) entry[name] = value;
  entry[scores.unit] = scores.count;
  entry.update({{"read", scores.read},
                {"best", best},
                {"seconds", scores.seconds},
                {"peak_bytes", memory_statistics(device_).peak_bytes}});
  append("evaluation", entry);
  window_ = {};
}

// --- Measurement ---

namespace {

/// Sets a value in an object; the part of its name before a dot is that of an object in it.
void set_at(Json& json, const std::string& name, const Json& value) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos)
    json[name] = value;
  else
    json[name.substr(0, dot)][name.substr(dot + 1)] = value;
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

Json json_of(const std::vector<Detail>& details) {
  Json json = Json::object();
  for (const Detail& it : details)
    std::visit([&](const auto& value) { set_at(json, it.name, value); }, it.value);
  return json;
}

Json json_of(const Scores& scores) {
  Json json{{"read", scores.read}, {scores.unit, scores.count}};
  for (const auto& [name, value] : scores.metrics) json[name] = value;
  json.update(json_of(scores.details));
  json["seconds"] = scores.seconds;
  return json;
}

void append_evaluation(const RunFolder& run, const Json& of_text, const Scores& scores, const Task& task,
                       const Module& model, const Compute& compute,
                       const std::vector<std::string>& sha256_of_text) {
  Json json = of_text;
  json.update(json_of(scores));
  for (const Metric& it : scores.metrics) json["metrics"].push_back(it.name);
  json["types"] = task.types();
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

}  // namespace rondo
