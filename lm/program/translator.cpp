// A run whose task is translation.
#include "lm/program/translator.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "data/input_file.h"
#include "data/text.h"
#include "data/unicode.h"
#include "lm/program/multi_task_text.h"
#include "lm/program/run.h"
#include "lm/training/checkpoint.h"

namespace rondo {

TranslationText translation_text(const TextPair& text, const PairVocabularies& vocabularies,
                                 bool reverse_source, std::int64_t max_length) {
  TranslationText result{.pairs = encode_pairs(text, vocabularies, max_length),
                         .target = &vocabularies.target,
                         .reverse_source = reverse_source};
  if (max_length > 0) return result;
  std::int64_t number = 0;
  for (const std::string_view line : split_lines(text.target.content)) {
    ++number;
    if (text.has_gaps && line.empty()) continue;
    result.references.emplace_back(line);
    // Metrics need UTF-8: refused before a training, not at its first evaluation.
    code_points(line, fmt::format("{}: line {}", text.target.name, number));
  }
  return result;
}

std::vector<std::string> notes_of(const Pairs& train, std::int64_t max_length) {
  std::vector<std::string> notes;
  const std::int64_t all = train.size() + train.left_out + train.empty;
  if (train.left_out > 0)
    notes.push_back(fmt::format("{} of {} training pairs are longer than data.max_length = {}: left out",
                                train.left_out, all, max_length));
  if (train.empty > 0)
    notes.push_back(fmt::format("{} of {} training pairs have an empty side: left out", train.empty, all));
  return notes;
}

namespace {

void allocate_and_load(const RunFolder& folder, Module& model, Device device) {
  check_has_model(folder, model);
  model.allocate(device);
  load_model(folder.model(), model);
}

/// The index of a task of a multi-task run.
size_t index_of_task(const RunConfig& config, const std::string& run, const std::string& name) {
  const MixedTasks& tasks = config.recipe.tasks;
  if (name.empty()) return 0;
  std::vector<std::string> names;
  for (const MixedTaskOptions& it : tasks) names.push_back(it.name);
  const auto found = std::find(names.begin(), names.end(), name);
  check_input(found != names.end(), "--task {}: the tasks of {} are {}", name, run, fmt::join(names, ", "));
  return static_cast<size_t>(found - names.begin());
}

OpenTranslator open_multi_task(RunFolder folder, RunConfig config, Device device, const std::string& name) {
  const MixedTasks& tasks = config.recipe.tasks;
  const size_t index = index_of_task(config, folder.path.string(), name);
  const std::map<std::string, Vocabulary> vocabularies =
      by_language(tasks, read_vocabularies(folder, config));
  const auto all = std::make_shared<SharedEncoderDecoders>(
      config.recipe.translation.model, sizes_of(vocabularies), routes_of(tasks), 1, Device::meta);
  allocate_and_load(folder, *all, device);
  const MixedTaskOptions task = tasks[index];
  PairVocabularies of_task = vocabularies_of(task, vocabularies);
  config.recipe.translation = with_languages(config.recipe.translation, task.source, task.target);
  return {std::move(folder), std::move(config), std::move(of_task),
          std::shared_ptr<EncoderDecoder>(all, &all->at(index)), task};
}

}  // namespace

OpenTranslator open_translator(const std::string& path, Device device, const std::string& task) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  if (config.recipe.kind == TaskKind::multi_task)
    return open_multi_task(std::move(folder), std::move(config), device, task);
  check_kind(folder, config, TaskKind::translation);
  check_input(task.empty(), "--task {}: {} has one task alone, translation", task, folder.path.string());
  std::vector<Vocabulary> read = read_vocabularies(folder, config);
  PairVocabularies vocabularies{std::move(read[0]), std::move(read[1])};
  auto model = std::make_shared<EncoderDecoder>(config.recipe.translation.model, vocabularies.source.size(),
                                                vocabularies.target.size(), 1, Device::meta);
  allocate_and_load(folder, *model, device);
  return {std::move(folder), std::move(config), std::move(vocabularies), std::move(model)};
}

}  // namespace rondo
