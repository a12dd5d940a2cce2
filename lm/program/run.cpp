// A run opened for use.
#include "lm/program/run.h"

#include <fmt/ranges.h>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/shell_command.h"
#include "lm/training/checkpoint.h"

namespace rondo {

void check_vocabularies(const RunFolder& folder, const Provenance& made_by,
                        const VocabularyFiles& vocabularies) {
  std::vector<std::string> files;
  for (const auto& [name, content] : vocabularies) files.push_back((folder.path / name).string());
  check_input(
      made_by.vocabulary.empty() || made_by.vocabulary == digest_of(vocabularies),
      "{}: not the vocabulary that this run was made with, whose SHA-256 is {}: the model's rows would "
      "stand for other symbols",
      fmt::join(files, " and "), made_by.vocabulary);
}

std::vector<std::filesystem::path> vocabulary_paths(const RunFolder& folder, const Recipe& recipe) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& name : recipe.task->vocabulary_names()) paths.push_back(folder.path / name);
  return paths;
}

void read_vocabularies(const RunFolder& folder, const RunConfig& config, Task& task) {
  VocabularyFiles files;
  for (const std::filesystem::path& path : vocabulary_paths(folder, config.recipe))
    files.emplace_back(path.filename().string(), read_vocabulary_file(path));
  check_vocabularies(folder, config.made_by, files);
  task.set_vocabularies(files, folder.path.string());
}
void read_vocabularies(const RunFolder& folder, const RunConfig& config) {
  read_vocabularies(folder, config, *config.recipe.task);
}

void check_has_model(const RunFolder& folder, const Module& layout) {
  const std::string name = folder.model().filename().string();
  if (!file_is_there(folder.model()))
    throw InputError(fmt::format(
        "{} holds no model{}", folder.path.string(),
        file_is_there(folder.evaluations())
            ? fmt::format(", although one was measured: has its {} been moved?", name)
            : fmt::format(" yet; its {} is written by the first evaluation of its training", name)));
  check_model_layout(folder.model(), layout);
}

void refuse_task(const RunFolder& folder, const RunConfig& config, const std::string& wanted) {
  const std::string run = folder.path.string();
  throw InputError(fmt::format("{}: a run of the task {}, and this command is for {}; use {}", run,
                               config.recipe.task_name, wanted,
                               command_with({config.recipe.task->usage().command, run})));
}

OpenTask open_task_without_weights(const std::string& path) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  read_vocabularies(folder, config);
  auto model = config.recipe.task->make_layout(config.recipe.task->sizes());
  check_has_model(folder, *model);
  return {std::move(folder), std::move(config), std::move(model)};
}

OpenTask open_task(const std::string& path, Device device) {
  OpenTask run = open_task_without_weights(path);
  run.model->allocate(device);
  load_model(run.folder.model(), *run.model);
  return run;
}

namespace {

OpenRun as_language_model(OpenTask run) {
  const Vocabulary vocabulary = run.task_as<LanguageModellingTask>("language_modelling").vocabulary();
  std::unique_ptr<LanguageModel> model(dynamic_cast<LanguageModel*>(run.model.release()));
  return {std::move(run.folder), std::move(run.config), vocabulary, std::move(model)};
}

/// InputError before anything else is read.
void check_models_language(const std::string& path) {
  const RunFolder folder = open_run_folder(path);
  const RunConfig config = read_config(folder);
  if (!config.recipe.language_modelling()) refuse_task(folder, config, "language_modelling");
}

}  // namespace

OpenRun open_run_without_weights(const std::string& path) {
  check_models_language(path);
  return as_language_model(open_task_without_weights(path));
}

OpenRun open_run(const std::string& path, Device device) {
  check_models_language(path);
  return as_language_model(open_task(path, device));
}

bool unknown_is_trained(const RunConfig& config, const Vocabulary& vocabulary) {
  const bool is_of_its_text =
      config.recipe.language_model().data.vocabulary_file.empty();  // whose <unk> tells
  return (is_of_its_text && vocabulary.unknown_is_trained()) || config.made_by.unknown_is_trained;
}

}  // namespace rondo
