// The report of a training, and measurements as lines of JSON: see log.h.
#include "lm/program/log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/files/input_file.h"
#include "data/text/text.h"
#include "lm/program/probe_report.h"
#include "tensor/allocator.h"

namespace rondo {

// --- Training report ---

namespace {

using Json = nlohmann::ordered_json;

/// Where a training is, after its last update.
Json place_of(const Trainer& trainer) {
  return {{"step", trainer.step_count()},
          {"epoch", trainer.epoch()},
          {"epochs_trained", static_cast<double>(trainer.epoch() - 1) + trainer.objective().epoch_fraction()},
          {"training_seconds", trainer.seconds()}};
}

/// All metrics: "1.2345 nats  1.7810 bits  perplexity 3.44", "bleu 35.12", "cer 3.20  wer 8.10  0.2100 nats".
std::string values_text(const Scores& scores) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : scores.metrics)
    texts.push_back(name == "nats" || name == "bits" ? fmt::format("{:.4f} {}", value, name)
                                                     : fmt::format("{} {:.2f}", name, value));
  return fmt::format("{}", fmt::join(texts, "  "));
}

}  // namespace

std::string figure_text(const Recipe& recipe, double nats) {
  return usual_unit(*recipe.task) == PublishedUnit::perplexity
             ? fmt::format("perplexity {:.2f}", std::exp(nats))
             : fmt::format("{:.4f} bits", nats / std::numbers::ln2);
}

std::string scored_text(const Scores& scores) {
  const std::string scored = counted_text(scores.count, scores.unit);
  return scores.preposition.empty() ? scored
                                    : fmt::format("{} {} {}", scored, scores.preposition, scores.read);
}

double seconds_left(const Trainer& trainer, double rate) {
  const double epochs_done = static_cast<double>(trainer.epoch() - 1) + trainer.objective().epoch_fraction(),
               steps_done = static_cast<double>(trainer.step_count()),
               epochs_left =
                   trainer.steps() > 0
                       ? epochs_done / steps_done * static_cast<double>(trainer.steps()) - epochs_done
                       : static_cast<double>(trainer.epochs()) - epochs_done;
  return epochs_left * static_cast<double>(trainer.objective().scored_per_epoch()) / rate;
}

std::vector<std::string> TrainingReport::status_of(const Trainer& trainer) const {
  const double share = trainer.objective().epoch_fraction(), rate = window_.scored_per_second();
  std::vector<std::string> parts;
  if (trainer.steps() > 0) {
    const auto done = static_cast<double>(trainer.step_count());
    parts.push_back(fmt::format("step {}/{}  {:.0f}%", trainer.step_count(), trainer.steps(),
                                100 * done / static_cast<double>(trainer.steps())));
  } else {
    parts.push_back(fmt::format("epoch {}/{}  {:.0f}%", trainer.epoch(), trainer.epochs(), 100 * share));
  }
  parts.push_back(duration_text(seconds_left(trainer, rate)) + " left");
  parts.push_back(fmt::format("loss {:.4f} nats", window_.mean_loss()));
  if (recipe_.task->predicts_text()) parts.push_back(figure_text(recipe_, window_.mean_loss()));
  parts.push_back(fmt::format("{} {}/s", short_number(rate), trainer.objective().scored_items()));
  parts.push_back(fmt::format("learning rate {:.3g}", trainer.learning_rate()));
  return parts;
}

void TrainingReport::updated(const Trainer& trainer, const StepMetrics& metrics) {
  if (metrics.scored == 0) return;
  window_.add(metrics);
  since_evaluation_.add(metrics);
  if (progress_.due()) progress_.status(status_of(trainer));
  if (!is_logged(trainer)) return;
  Json entry = place_of(trainer);
  entry.update({{"nats", window_.mean_loss()},
                {"learning_rate", trainer.learning_rate()},
                {"gradient_norm", metrics.gradient_norm},
                {trainer.objective().scored_items() + "_per_second", window_.scored_per_second()}});
  append("steps", entry);
  window_ = {};
}

void TrainingReport::validated(const Trainer& trainer, const Scores& scores, bool best) {
  std::string what = fmt::format("epoch {:<4}", trainer.epoch());
  if (recipe_.run.eval_every > 0) what += fmt::format(" step {:<7}", trainer.step_count());
  if (since_evaluation_.scored > 0) what += fmt::format(" train {:.4f} nats ", since_evaluation_.mean_loss());
  since_evaluation_ = {};
  Json entry = place_of(trainer);
  if (trainer.step_count() > 0) entry["learning_rate"] = trainer.learning_rate();
  evaluation(what + " valid", std::move(entry), "valid", scores, best);
}
void TrainingReport::began_with(const Scores& scores) {
  evaluation("base model valid",
             {{"step", 0}, {"epoch", 0}, {"epochs_trained", 0.0}, {"training_seconds", 0.0}}, "valid", scores,
             true);
}
void TrainingReport::measured(const std::string& split, const Scores& scores) {
  evaluation(split + " (best checkpoint)", Json::object(), split, scores, true);
}

void TrainingReport::evaluation(const std::string& what, Json entry, const std::string& split,
                                const Scores& scores, bool best) {
  const bool is_of_training = !entry.empty();
  line(fmt::format("{} {}  {}  evaluated in {}{}", what, values_text(scores), scored_text(scores),
                   duration_text(scores.seconds), best && is_of_training ? "  best" : ""));
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

void TrainingReport::append(const std::string& event, const Json& entry) {
  Json line{{"event", event}, {"time", time_text()}};
  line.update(entry);
  file_.append(line.dump());
}

void TrainingReport::probed(const Trainer& trainer, std::int64_t epochs, const Probed& what) {
  Json entry{{"step", trainer.step_count()}, {"epoch", epochs}, {"probed", "train"}};
  entry.update(json_of(what));
  append("probe", entry);
}

void TrainingReport::measured_meanwhile(const Trainer& trainer, const Json& figure) {
  Json entry{{"step", trainer.step_count()}, {"epoch", trainer.epoch()}};
  entry.update(figure);
  append("sentences", entry);
}

void TrainingReport::stopped(const Trainer& trainer, bool unevaluated) {
  append("stopped", {{"step", trainer.step_count()},
                     {"epoch", trainer.epoch()},
                     {"training_seconds", trainer.seconds()},
                     {"model_is_evaluated", !unevaluated}});
}

void TrainingReport::warn(const std::string& text) {
  if (!text.empty()) progress_.erase();
  print_warning(text);
}

// --- Measurement ---

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
  const auto found = std::ranges::find(score_styles(), key, &ScoreStyle::key);
  return found == score_styles().end() ? ScoreStyle{key, key} : *found;
}

Json json_of(const std::vector<Detail>& details) {
  Json json = Json::object();
  for (const Detail& it : details) {
    std::string place = "/" + it.name;
    std::ranges::replace(place, '.', '/');
    std::visit([&](const auto& value) { json[Json::json_pointer(place)] = value; }, it.value);
  }
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
