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
  return static_cast<double>(trainer.epoch() - 1) + trainer.objective().epoch_fraction();
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
                   {trainer.objective().scored_items() + "_per_second", window_.symbols_per_second()}});
  window_ = {};
}

void TrainingLog::validated(const Trainer& trainer, const Scores& scores, bool best) {
  evaluation(Moment{trainer.step_count(), trainer.epoch(), epochs_trained(trainer), trainer.seconds(),
                    trainer.learning_rate()},
             "valid", scores, best);
}
void TrainingLog::began_with(const Scores& scores) { evaluation(Moment{}, "valid", scores, true); }
void TrainingLog::measured(const std::string& split, const Scores& scores) {
  evaluation({}, split, scores, true);
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
                             const Scores& scores, bool best) {
  Json entry;
  if (when)
    entry = {{"step", when->step},
             {"epoch", when->epoch},
             {"epochs_trained", when->epochs_trained},
             {"training_seconds", when->seconds}};
  if (when && when->step > 0) entry["learning_rate"] = when->learning_rate;
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

}  // namespace rondo
