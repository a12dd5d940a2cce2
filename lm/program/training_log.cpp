// log.jsonl as an observer of a training.
#include "lm/program/training_log.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "lm/program/probe_report.h"
#include "tensor/allocator.h"

namespace rondo {

using Json = nlohmann::ordered_json;

void TrainingLog::updated(const Trainer& trainer, const StepMetrics& metrics) {
  if (metrics.scored == 0) return;
  window_.add(metrics);
  if (!is_due(trainer)) return;
  file_.append(Json{{"step", trainer.step_count()},
                    {"epoch", trainer.epoch()},
                    {"nats", window_.loss()},
                    {"learning_rate", trainer.learning_rate()},
                    {"gradient_norm", metrics.gradient_norm},
                    {trainer.task().scored_items() + "_per_second", window_.symbols_per_second()}}
                   .dump());
  window_ = {};
}

void TrainingLog::validated(const Trainer& trainer, const Figure& figure, bool best) {
  evaluation(Moment{trainer.step_count(), trainer.epoch(), trainer.seconds()}, "valid", figure, best);
}
void TrainingLog::began_with(const Figure& figure) { evaluation(Moment{}, "valid", figure, true); }
void TrainingLog::measured(const std::string& split, const Figure& figure) {
  evaluation({}, split, figure, true);
}

void TrainingLog::probed(const Trainer& trainer, int64_t epochs, const Probed& what) {
  Json entry{{"step", trainer.step_count()}, {"epoch", epochs}, {"probed", "train"}};
  entry.update(json_of(what));
  file_.append(entry.dump());
}

void TrainingLog::evaluation(const std::optional<Moment>& when, const std::string& split,
                             const Figure& figure, bool best) {
  Json entry;
  if (when) entry = {{"step", when->step}, {"epoch", when->epoch}, {"training_seconds", when->seconds}};
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
  file_.append(entry.dump());
  window_ = {};
}

}  // namespace rondo
