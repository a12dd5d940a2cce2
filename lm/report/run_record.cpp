// The record of a run.
#include "lm/report/run_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/files/input_file.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/training/trainer.h"

namespace rondo {

namespace {

ScoreMap logged_scores(const nlohmann::json& entry, const Task& task) {
  ScoreMap scores;
  for (const ScoreStyle& it : score_styles())
    if (entry.contains(it.key)) scores[it.key] = figure_at(entry, it.key);
  if (const std::string key = task.selection_metric(); !scores.contains(key))
    scores[key] = figure_at(entry, key);
  return scores;
}

LoggedMoment logged_moment(const nlohmann::json& entry) {
  return {entry.contains("step") ? integer_at(entry, "step") : 0,
          optional_figure_at(entry, "epochs_trained").value_or(not_known),
          optional_figure_at(entry, "training_seconds").value_or(not_known)};
}

void read_steps(const nlohmann::json& entry, RunRecord& run) {
  const auto figure = [&](const char* key) { return optional_figure_at(entry, key).value_or(not_known); };
  entry.at("step");  // which every line has
  LoggedSteps steps{logged_moment(entry), figure("nats"), figure("learning_rate"), figure("gradient_norm")};
  const std::string end = "_per_second";
  for (const auto& [key, value] : entry.items())
    if (key.ends_with(end)) {
      run.scored = key.substr(0, key.size() - end.size());
      steps.per_second = figure_at(entry, key);
    }
  run.steps.push_back(steps);
}

/// Reads one line of log.jsonl; false if it is not one.
bool read_log_line(const nlohmann::json& entry, RunRecord& run) {
  if (entry.value("event", "") == "stopped") {
    run.finished = false;
    run.has_unevaluated_model = !entry.at("model_is_evaluated").get<bool>();
    return true;
  }
  if (entry.contains("set")) return entry.at("step").is_number();  // vectors measured during the training
  if (entry.contains("probed")) {
    run.probes.push_back({integer_at(entry, "epoch"), probed_of(entry)});
    return true;
  }
  if (!entry.contains("split")) {
    read_steps(entry, run);
    return true;
  }
  const std::string split = entry.at("split");
  if (split == "speakers") return true;  // a recogniser's; it is in evaluations.jsonl, too
  if (split != "valid" && split != "test") return false;
  // Logs of version 0.1 do not say how a text was read: as in evaluations during training.
  KeptMeasurement measured;
  measured.scores = logged_scores(entry, *run.recipe().task);
  measured.symbols = entry.contains("symbols") ? integer_at(entry, "symbols") : 0;
  measured.read = entry.value("read", run.recipe().task->preferred_reading());
  std::optional<KeptMeasurement>&test = run.measured[test_kind], &valid = run.measured[valid_kind];
  if (split == "test") {
    if (!test) test = measured;  // later lines are of another reading
    run.finished = true;
    return true;
  }
  const bool best = entry.at("best");
  if (best) {
    valid = measured;
    if (entry.contains("step")) run.keeps_base = entry.at("step") == 0;
  }
  if (!entry.contains("epoch")) return true;  // the best model, measured again
  test.reset();                               // the training was continued
  run.finished = false;
  LoggedEvaluation it{logged_moment(entry), integer_at(entry, "epoch"), measured.scores, best};
  if (std::isnan(it.when.epochs)) it.when.epochs = static_cast<double>(it.epoch);
  run.evaluations.push_back(it);
  return true;
}

/// Estimates what lines of steps lack in logs of older versions.
void estimate_moments(RunRecord& run) {
  const LoggedMoment last = run.last_evaluation().when;
  for (double LoggedMoment::*member : {&LoggedMoment::epochs, &LoggedMoment::seconds})
    for (LoggedSteps& it : run.steps)
      if (std::isnan(it.when.*member))
        it.when.*member = last.*member * static_cast<double>(it.when.step) / static_cast<double>(last.step);
}

/// Takes the last measurement of each kind on the run's own text, in the run's precision or fp32. A text read
/// as published, or by translators with the run's beam, takes precedence over other readings.
void take_measurements(const std::vector<KeptMeasurement>& kept, RunRecord& run) {
  const Recipe& recipe = run.recipe();
  const Provenance& made_by = run.config.made_by;
  const std::string preferred = recipe.task->preferred_reading();
  const LanguageModellingTask* task = recipe.language_modelling();
  const bool begins_anew =
      task &&
      !final_reading(task->settings.train, 0, task->settings.model.trained_initial_states).carries_state();
  for (const KeptMeasurement& it : kept) {
    if (digests_of(it.sha256) != digests_of(made_by.sha256)) continue;
    if (it.precision != Precision::fp32 && it.precision != made_by.precision) continue;
    const bool carried = !it.dynamic && !it.cache && begins_anew && it.read == Reading{}.text();
    const auto kind = std::find_if(kinds_of_measurement.begin(), kinds_of_measurement.end(),
                                   [&](const MeasurementKind& of) {
                                     return of.split == it.split && of.dynamic == it.dynamic &&
                                            of.cache == it.cache && of.carried == carried;
                                   });
    if (kind == kinds_of_measurement.end()) continue;
    std::optional<KeptMeasurement>& into =
        run.measured[static_cast<std::size_t>(kind - kinds_of_measurement.begin())];
    if (into && kind->is_plain() && into->read == preferred && it.read != preferred) continue;
    into = it;
  }
}

}  // namespace

RunRecord read_log(const std::string& path) {
  const RunFolder folder = open_run_folder(path);
  RunRecord run{.path = path, .config = read_config(folder)};
  read_json_lines(folder.log(), "`lm train` writes into its log",
                  [&](const nlohmann::json& entry) { return read_log_line(entry, run); });
  estimate_moments(run);
  return run;
}

RunRecord read_run(const std::string& path, bool is_training) {
  RunRecord run = read_log(path);
  const RunFolder folder{path};
  const Recipe& recipe = run.recipe();
  std::vector<KeptMeasurement> kept = kept_measurements(folder);
  std::erase_if(kept, [&](const KeptMeasurement& it) {  // of multi-task runs, the first task has the row
    const std::vector<std::string> parts = recipe.task->parts();
    return !it.task.empty() && (parts.empty() || it.task != parts.front());
  });
  if (file_is_there(vocabulary_paths(folder, recipe).back()) || kept.empty()) {
    read_vocabularies(folder, run.config);
    run.vocabulary_size = recipe.task->vocabulary().size();
    run.types = recipe.task->vocabulary().types();
    run.parameters = recipe.task->make_layout(recipe.task->sizes())->parameter_count();
  } else {
    run.vocabulary_size = kept.back().vocabulary_size;
    run.types = kept.back().types;
    run.parameters = kept.back().parameters;
  }
  take_measurements(kept, run);
  const bool is_valid = run.measured[valid_kind].has_value();
  if (is_valid) run.has_unevaluated_model = false;  // `lm eval` has measured it since
  if (!recipe.task->predicts_text())                // earlier versions kept bits of them, too
    for (std::optional<KeptMeasurement>& it : run.measured)
      if (it) it->scores.erase("bits"), it->scores.erase("perplexity");
  run.sentences = kept_sentence_figures(folder);
  if (!is_training && !run.finished && is_valid && file_is_there(folder.state()))  // without a test text
    run.finished = is_finished(recipe.trainer, folder.state());
  return run;
}

bool RunRecord::is_of_the_papers_text() const {
  const auto& test = measured[test_kind];
  return may_be_the_papers(recipe().published, types, test ? std::optional(test->symbols) : std::nullopt);
}

double RunRecord::published(std::size_t kind) const {
  const MeasurementKind& of = kinds_of_measurement[kind];
  const bool is_read_as_published =
      !of.is_plain() || !measured[kind] || measured[kind]->read == recipe().task->preferred_reading();
  if (!finished || of.carried || !is_read_as_published || !is_of_the_papers_text() ||
      !changed_keys(recipe(), is_finetuned()).empty())
    return 0;
  return published_figure(recipe().published, is_finetuned(), of.split, of.dynamic, of.cache);
}

}  // namespace rondo
