// `lm probe`.
#include "lm/program/probe.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/files.h"
#include "lm/program/classification_measurement.h"
#include "lm/program/evaluate.h"
#include "lm/program/output.h"
#include "lm/program/probe_pictures.h"
#include "lm/program/probe_report.h"
#include "lm/program/progress.h"
#include "lm/program/run.h"
#include "lm/program/translation_measurement.h"
#include "lm/program/translator.h"

namespace rondo {
namespace {

/// Where the text of a run is.
std::string data_of(const ProbeCommandOptions& options, const Provenance& made_by) {
  return options.data.empty() ? made_by.data : options.data;
}

Probed probe_language_model(const std::string& path, const ProbeCommandOptions& options, Device device,
                            const std::function<void(std::int64_t)>& progress) {
  OpenRun run = open_run(path, device);
  const std::string folder = data_of(options, run.config.made_by);
  const CorpusText corpus =
      open_text(run.config.recipe.data, folder, options.data.empty() ? Pipes::refused : Pipes::accepted);
  warn_if_changed(folder, run.config.made_by.sha256, sha256_lines(corpus.files));
  const Text& text = corpus.at(split_from_string(options.split));
  ProbeOptions how = probe_options(run.config.recipe);
  how.steps = options.steps.value_or(how.steps);
  how.sequences = options.sequences.value_or(how.sequences);
  const Encoded ids = run.vocabulary.encode(text);
  check_input(std::ssize(ids.ids) > how.steps,
              "{}: {} symbols are too few for a sequence of {} and the symbol after it: use fewer --steps",
              text.name, ids.ids.size(), how.steps);
  return probe(*run.model, ids.ids, how, progress);
}

Probed probe_classifier(const std::string& path, const ProbeCommandOptions& options, Device device,
                        const std::function<void(std::int64_t)>& progress) {
  OpenClassifier run = open_classifier(path, device);
  const LabelledTextOptions& data = run.config.recipe.classification.data;
  const std::string folder = data_of(options, run.config.made_by);
  const LabelledTexts texts = open_labelled_texts(folder, data.files, data.tokenization.unit);
  warn_if_changed(folder, run.config.made_by.sha256, sha256_lines(texts.files));
  const LabelledSentences sentences =
      encode_labelled(texts.at(split_from_string(options.split)), run.vocabulary, run.labels);
  return probe(*run.model, sentences, {.sequences = options.sequences.value_or(ProbeOptions().sequences)},
               progress);
}

Probed probe_translator(const std::string& path, const ProbeCommandOptions& options, Device device,
                        const std::function<void(std::int64_t)>& progress) {
  const OpenTranslator run = open_translator(path, device);
  const TranslationRecipe& recipe = run.config.recipe.translation;
  check_generated_has_no_folder(recipe.data.files, options.data);
  const std::string folder = data_of(options, run.config.made_by);
  const SplitText text = text_of(run, folder, split_from_string(options.split));
  warn_if_changed(folder, run.config.made_by.sha256, text.sha256);
  const bool reversed = recipe.task.batches.reverse_source;
  return probe(*run.model, translation_text(text.pairs, run.vocabularies, reversed).pairs, reversed,
               {.sequences = options.sequences.value_or(ProbeOptions().sequences)}, progress);
}

Probed probe_run(const std::string& path, TaskKind kind, const ProbeCommandOptions& options, Device device,
                 const std::function<void(std::int64_t)>& progress) {
  switch (kind) {
    case TaskKind::language_modelling:
      return probe_language_model(path, options, device, progress);
    case TaskKind::classification:
      return probe_classifier(path, options, device, progress);
    case TaskKind::translation:
    case TaskKind::multi_task:
      return probe_translator(path, options, device, progress);
    default:
      throw InputError(
          fmt::format("{}: a run of the task {}, of which there are no probes", path, name_of(kind)));
  }
}

}  // namespace

ProbeOptions probe_options(const Recipe& recipe) { return {.steps = recipe.task.batches.chunks.length}; }

int probe_runs(const ProbeCommandOptions& options) {
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  std::vector<ProbedRun> runs;
  for (const std::string& path : options.runs) {
    const RunFolder folder = open_run_folder(path);
    const TaskKind kind = read_config(folder).recipe.kind;
    check_input(!options.steps || kind == TaskKind::language_modelling,
                "--steps: {} is of the task {}, which reads whole sentences; leave it out", path,
                name_of(kind));
    Progress progress(stderr);
    const auto show =
        progress_of(progress, "probing " + path, options.sequences.value_or(ProbeOptions().sequences));
    runs.push_back(
        {path, options.split, probe_run(path, kind, options, compute.device, show), history_of(folder)});
    progress.erase();
    if (!options.json) fmt::print("{}", table_of(runs.back()));
  }
  if (!options.svg.empty()) {
    std::filesystem::create_directories(options.svg);
    for (const auto& [name, picture] : pictures_of(runs))
      write_atomically(std::filesystem::path(options.svg) / name, picture);
  }
  if (!options.json) return 0;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ProbedRun& it : runs) {
    nlohmann::ordered_json entry{{"run", it.run}, {"probed", it.split}};
    entry.update(json_of(it.probed));
    list.push_back(entry);
  }
  print_json(nlohmann::ordered_json{{"runs", list}});
  return 0;
}

}  // namespace rondo
