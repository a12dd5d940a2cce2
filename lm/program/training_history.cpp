// What log.jsonl tells of a training over time.
#include "lm/program/training_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "lm/program/json_lines.h"
#include "lm/program/measurement.h"

namespace rondo {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double step_of(const LoggedMoment& it) { return static_cast<double>(it.step); }

/// What a moment lacks, between and after moments that have it. A training begins with 0.
template <class Lines>
void interpolate(Lines& lines, const std::vector<LoggedEvaluation>& evaluations,
                 double LoggedMoment::*member) {
  std::vector<LoggedMoment> known{{}};
  for (const LoggedEvaluation& it : evaluations)
    if (std::isfinite(it.when.*member) && it.when.step > known.back().step) known.push_back(it.when);
  for (auto& line : lines) {
    if (std::isfinite(line.when.*member) || known.size() < 2) continue;
    const auto after =
        std::lower_bound(known.begin() + 1, known.end() - 1, line.when.step,
                         [](const LoggedMoment& it, std::int64_t step) { return it.step < step; });
    const LoggedMoment &to = *after, &from = *(after - 1);
    line.when.*member = from.*member + (to.*member - from.*member) * (step_of(line.when) - step_of(from)) /
                                           (step_of(to) - step_of(from));
  }
}

LoggedMoment moment_of(const nlohmann::json& entry) {
  return {integer_at(entry, "step"), optional_figure_at(entry, "epochs_trained").value_or(unknown),
          optional_figure_at(entry, "training_seconds").value_or(unknown)};
}

/// The end of the keys "symbols_per_second", "sentences_per_second", ...
const std::string per_second = "_per_second";

void read_steps(const nlohmann::json& entry, TrainingHistory& history) {
  const auto figure = [&](const char* key) { return optional_figure_at(entry, key).value_or(unknown); };
  LoggedSteps steps{moment_of(entry), figure("nats"), figure("learning_rate"), figure("gradient_norm"),
                    unknown};
  for (const auto& [key, value] : entry.items())
    if (key.ends_with(per_second)) {
      history.scored = key.substr(0, key.size() - per_second.size());
      steps.per_second = figure_at(entry, key);
    }
  history.steps.push_back(steps);
}

void read_evaluation(const nlohmann::json& entry, std::int64_t eval_every, TrainingHistory& history) {
  LoggedEvaluation it{moment_of(entry), figure_at(entry, "nats"), task_scores_of(entry),
                      entry.at("best").get<bool>()};
  if (std::isnan(it.when.epochs) && eval_every == 0)
    it.when.epochs = static_cast<double>(integer_at(entry, "epoch"));
  history.evaluations.push_back(it);
}

}  // namespace

TrainingHistory training_history(const RunFolder& run) {
  TrainingHistory history;
  const std::int64_t eval_every = read_config(run).recipe.run.eval_every;
  read_json_lines(run.log(), "`lm train` writes into its log", [&](const nlohmann::json& entry) {
    if (entry.contains("probed"))
      history.probed = ProbedRun{run.path.string(), entry.at("probed"), probed_of(entry)};
    else if (entry.value("event", "") == "stopped" || entry.contains("set"))
      return true;
    else if (!entry.contains("split"))
      read_steps(entry, history);
    else if (entry.contains("step") && entry.at("split") == "valid")
      read_evaluation(entry, eval_every, history);
    return true;
  });
  for (double LoggedMoment::*member : {&LoggedMoment::epochs, &LoggedMoment::seconds}) {
    const std::vector<LoggedEvaluation> evaluations = history.evaluations;
    interpolate(history.evaluations, evaluations, member);
    interpolate(history.steps, evaluations, member);
  }
  if (history.probed) history.probed->history = history_of(run);
  return history;
}

}  // namespace rondo
