// The record of a run; see run_groups.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/files/input_file.h"
#include "lm/program/files.h"
#include "lm/report/run_groups.h"
#include "lm/training/trainer.h"

namespace rondo {

namespace {

using Entry = nlohmann::json;

/// The scores that a line of evaluations.jsonl names or, of the log and of version 0.2, all that are known.
ScoreMap scores_in(const Entry& entry, const Task& task) {
  std::vector<std::string> names{task.selection_metric()};
  for (const ScoreStyle& it : score_styles()) names.push_back(it.key);
  if (entry.contains("metrics")) {
    names = entry.at("metrics").get<std::vector<std::string>>();
    names.emplace_back("bits_per_byte");  // a detail
  }
  ScoreMap scores;
  for (const std::string& name : names)
    if (entry.contains(name)) scores[name] = figure_at(entry, name);
  check_input(!scores.empty(), "no score");
  if (entry.value("unknowns", 0) > 0) scores.erase("bits_per_byte");
  if (!task.predicts_text()) scores.erase("bits"), scores.erase("perplexity");  // version 0.2 kept them
  return scores;
}

/// The settings of adaptive methods, without counts.
std::string settings_in(const Entry& entry) {
  Entry settings = Entry::object();
  for (const char* section : {"dynamic", "cache"})
    if (entry.contains(section)) settings[section] = entry.at(section);
  if (settings.contains("dynamic"))
    for (const char* counted : {"statistics_symbols", "statistics_batches"})
      settings["dynamic"].erase(counted);
  return settings.empty() ? "" : settings.dump();
}

KeptMeasurement measurement_in(const Entry& entry, const Task& task) {
  KeptMeasurement it{.scores = scores_in(entry, task), .settings = settings_in(entry)};
  if (entry.contains("symbols")) it.symbols = integer_at(entry, "symbols");
  if (entry.contains("unknowns")) it.unknowns = integer_at(entry, "unknowns");
  it.read = entry.value("read", task.preferred_reading());
  return it;
}

LoggedMoment moment_in(const Entry& entry) {
  const auto epoch = static_cast<double>(integer_at(entry, "epoch"));
  return {integer_at(entry, "step"), figure_at(entry, "epochs_trained", epoch),
          figure_at(entry, "training_seconds", not_known)};
}

/// Reads one line of log.jsonl; false if it is not one.
bool read_log_line(const Entry& entry, RunRecord& run) {
  const std::string split = entry.value("split", "");
  if (entry.value("event", "") == "stopped") {
    run.finished = false;
  } else if (entry.contains("probed")) {
    run.probes.push_back({integer_at(entry, "epoch"), probed_of(entry)});
  } else if (entry.contains("set") || split == "speakers") {
    return true;  // evaluations.jsonl has them, too
  } else if (split.empty()) {
    const auto figure = [&](const char* key) { return figure_at(entry, key, not_known); };
    run.steps.push_back({moment_in(entry), figure("nats"), figure("learning_rate"), figure("gradient_norm")});
  } else if (split == "test") {
    std::optional<KeptMeasurement>& test = run.measured[test_kind];
    if (!test) test = measurement_in(entry, *run.recipe().task);  // later lines are of another reading
    run.finished = true;
  } else if (split == "valid") {
    const KeptMeasurement measured = measurement_in(entry, *run.recipe().task);
    const bool best = entry.at("best");
    if (best) run.measured[valid_kind] = measured;
    if (!entry.contains("epoch")) return true;  // the best model, measured again
    const LoggedMoment when = moment_in(entry);
    if (best) run.keeps_base = when.step == 0;
    run.evaluations.push_back({when, integer_at(entry, "epoch"), measured.scores, best});
    run.measured[test_kind].reset();  // the training was continued
    run.finished = false;
  } else {
    return false;
  }
  return true;
}

/// Whether a measurement is of the run's own text, in the run's precision or fp32, and, of several tasks, of
/// the first one.
bool is_comparable(const Entry& entry, const RunRecord& run) {
  const Provenance& made_by = run.config.made_by;
  const std::vector<std::string> parts = run.recipe().task->parts();
  const std::string task = entry.value("task", "");
  const auto precision = value_named<Precision>(entry.at("precision").get<std::string>());
  return digests_of(entry.at("sha256")) == digests_of(made_by.sha256) &&
         (precision == Precision::fp32 || precision == made_by.precision) &&
         (task.empty() || (!parts.empty() && task == parts.front()));
}

/// Takes the last figures of each set of sentences.
void take_sentences(const Entry& entry, RunRecord& run) {
  SentenceSetFigures it = sentence_figures_in(entry);
  std::erase_if(run.sentences, [&](const SentenceSetFigures& other) { return other.set == it.set; });
  run.sentences.push_back(std::move(it));
}

/// Takes the last measurement of each kind. A text read as published, or by translators with the run's beam,
/// takes precedence over other readings.
void take_measurement(const Entry& entry, RunRecord& run) {
  if (!is_comparable(entry, run)) return;
  const auto kind = std::ranges::find_if(kinds_of_measurement, [&](const auto& of) {
    return of.split == entry.value("split", "") && of.dynamic == entry.contains("dynamic") &&
           of.cache == entry.contains("cache");
  });
  if (kind == kinds_of_measurement.end()) return;
  const KeptMeasurement it = measurement_in(entry, *run.recipe().task);
  const std::string preferred = run.recipe().task->preferred_reading();
  auto& into = run.measured[static_cast<std::size_t>(kind - kinds_of_measurement.begin())];
  if (!into || !kind->is_plain() || into->read != preferred || it.read == preferred) into = it;
}

/// Reads the measurements of the run's present model, and those of its vectors; without a model, those of the
/// one that was measured last.
std::vector<Entry> read_evaluations(const RunFolder& folder, const Task& task) {
  std::vector<Entry> entries;
  read_json_lines(folder.evaluations(), "`lm eval` keeps", [&](const Entry& entry) {
    if (entry.contains("set")) {
      sentence_figures_in(entry);  // refuses what is not such a line
      entry.at("model").get<std::string>();
      entries.push_back(entry);
      return true;
    }
    for (const char* key : {"types", "vocabulary_size", "parameters"}) integer_at(entry, key);
    for (const char* key : {"precision", "read", "model"}) entry.at(key).get<std::string>();
    entry.at("sha256").get<std::vector<std::string>>();
    const ScoreMap scores = measurement_in(entry, task).scores;
    const bool is_finite =
        std::ranges::any_of(scores, [](const auto& of) { return std::isfinite(of.second); });
    if (is_finite) entries.push_back(entry);  // else a symbol had probability 0
    return true;
  });
  if (entries.empty()) return entries;
  const std::string model = file_is_there(folder.model()) ? sha256_hex(InputFile(folder.model()))
                                                          : entries.back().at("model").get<std::string>();
  std::erase_if(entries, [&](const Entry& it) { return it.at("model") != model; });
  return entries;
}

}  // namespace

RunRecord read_log(const std::string& path) {
  const RunFolder folder = open_run_folder(path);
  RunRecord run{.path = path, .config = read_config(folder)};
  read_json_lines(folder.log(), "`lm train` writes into its log",
                  [&](const Entry& entry) { return read_log_line(entry, run); });
  return run;
}

RunRecord read_run(const std::string& path) {
  RunRecord run = read_log(path);
  const RunFolder folder{path};
  const Recipe& recipe = run.recipe();
  std::vector<Entry> kept;
  for (Entry& it : read_evaluations(folder, *recipe.task))
    if (it.contains("set"))
      take_sentences(it, run);
    else
      kept.push_back(std::move(it));
  if (file_is_there(vocabulary_paths(folder, recipe).back()) || kept.empty()) {
    read_vocabularies(folder, run.config, *recipe.task);
    run.vocabulary_size = recipe.task->vocabulary().size();
    run.types = recipe.task->vocabulary().types();
    run.parameters = recipe.task->make_layout(recipe.task->sizes())->parameter_count();
  } else {
    run.vocabulary_size = kept.back().at("vocabulary_size");
    run.types = kept.back().at("types");
    run.parameters = kept.back().at("parameters");
  }
  for (const Entry& it : kept) take_measurement(it, run);
  const bool is_valid = run.measured[valid_kind].has_value();
  if (!run.finished && is_valid && file_is_there(folder.state()))  // without a test text
    run.finished = is_finished(recipe.trainer, folder.state());
  return run;
}

std::string RunRecord::why_not_published() const {
  const PublishedFigures& published = recipe().published;
  if (published_text(published).empty()) return "";
  if (const auto changed = changed_keys(recipe(), is_finetuned()); !changed.empty())
    return fmt::format("settings are not those of the recipe {}: {}", recipe().name,
                       fmt::join(changed, ", "));
  const auto& test = measured[test_kind];
  const bool has_its_types = published.vocabulary == 0 || published.vocabulary == types;
  const std::int64_t left_out = test ? published.test_symbols - test->symbols : 0;
  const bool has_its_length =
      published.test_symbols == 0 || left_out == 0 || left_out == 1;  // the first symbol may be context only
  if (!has_its_types || !has_its_length)
    return fmt::format(
        "of another text (published.vocabulary = {}, here {}; published.test_symbols = {}, here {})",
        published.vocabulary, types, published.test_symbols, test ? test->symbols : 0);
  return finished ? "" : "the run is unfinished";
}

double RunRecord::published(std::size_t kind) const {
  const MeasurementKind& of = kinds_of_measurement[kind];
  const bool is_read_as_published =
      !of.is_plain() || !measured[kind] || measured[kind]->read == recipe().task->preferred_reading();
  if (!is_read_as_published || !why_not_published().empty()) return 0;
  return published_figure(recipe().published, is_finetuned(), of.split, of.dynamic, of.cache);
}

}  // namespace rondo
