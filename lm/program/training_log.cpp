// log.jsonl as an observer of a training.
#include "lm/program/training_log.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "lm/program/json_lines.h"
#include "lm/program/probe_report.h"
#include "tensor/allocator.h"

namespace rondo {

using Json = nlohmann::ordered_json;

namespace {

/// With the fraction of the present one.
double epochs_trained(const Trainer& trainer) {
  return static_cast<double>(trainer.epoch() - 1) + trainer.task().share_of_epoch();
}

}  // namespace

void TrainingLog::append(const std::string& event, const Json& entry) {
  Json line{{"event", event}, {"time", time_text()}};
  line.update(entry);
  file_.append(line.dump());
  if (tensorboard_) tensorboard_->add(entry);
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
  append("steps", {{"step", trainer.step_count()},
                   {"epoch", trainer.epoch()},
                   {"epochs_trained", epochs_trained(trainer)},
                   {"training_seconds", trainer.seconds()},
                   {"nats", window_.loss()},
                   {"learning_rate", trainer.learning_rate()},
                   {"gradient_norm", metrics.gradient_norm},
                   {trainer.task().scored_items() + "_per_second", window_.symbols_per_second()}});
  window_ = {};
}

void TrainingLog::validated(const Trainer& trainer, const Figure& figure, bool best) {
  evaluation(Moment{trainer.step_count(), trainer.epoch(), epochs_trained(trainer), trainer.seconds(),
                    trainer.learning_rate()},
             "valid", figure, best);
}
void TrainingLog::began_with(const Figure& figure) { evaluation(Moment{}, "valid", figure, true); }
void TrainingLog::measured(const std::string& split, const Figure& figure) {
  evaluation({}, split, figure, true);
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

void TrainingLog::evaluation(const std::optional<Moment>& when, const std::string& split,
                             const Figure& figure, bool best) {
  Json entry;
  if (when)
    entry = {{"step", when->step},
             {"epoch", when->epoch},
             {"epochs_trained", when->epochs_trained},
             {"training_seconds", when->seconds}};
  if (when && when->step > 0) entry["learning_rate"] = when->learning_rate;
  entry["split"] = split;
  const auto add = [&](const std::string& name, double value) {
    entry[name] = value;
    if (name != "nats" || !has_perplexity(recipe_.kind)) return;
    entry["bits"] = value / std::numbers::ln2;
    entry["perplexity"] = std::exp(value);
  };
  add(figure.name, figure.value);
  for (const auto& [name, value] : figure.beside) add(name, value);
  entry[figure.counted] = figure.count;
  entry.update({{"read", figure.read},
                {"best", best},
                {"seconds", figure.seconds},
                {"peak_bytes", memory_statistics(device_).peak_bytes}});
  append("evaluation", entry);
  window_ = {};
}

}  // namespace rondo
