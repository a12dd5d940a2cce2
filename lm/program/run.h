// A finished or interrupted run, opened for use, without changes to its folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/vocabulary.h"
#include "lm/program/run_folder.h"
#include "nn/models/language_model.h"

namespace rondo {

/// InputError, naming the files, unless these are the vocabularies that the run was made with. A run without
/// a recorded SHA-256 passes.
void check_vocabularies(const RunFolder& folder, const Provenance& made_by,
                        const VocabularyFiles& vocabularies);

/// The files of a run's vocabularies.
std::vector<std::filesystem::path> vocabulary_paths(const RunFolder& folder, const Recipe& recipe);

/// Reads the vocabularies of a run into its task. InputError, naming the file, if one is missing or broken,
/// or if they are not those that the run was made with. Without sentencepiece those of pieces cannot encode.
void read_vocabularies(const RunFolder& folder, const RunConfig& config);
/// The same into another task of that kind, as of a training that begins with this run.
void read_vocabularies(const RunFolder& folder, const RunConfig& config, Task& task);

/// InputError unless the run has a model, of this layout.
void check_has_model(const RunFolder& folder, const Module& layout);
/// InputError, which names the right command, for a run of another task than a command is for.
[[noreturn]] void refuse_task(const RunFolder& folder, const RunConfig& config, const std::string& wanted);

struct OpenTask {
  RunFolder folder;
  RunConfig config;
  std::unique_ptr<Module> model;  // with the best weights; dropout off

  Task& task() const { return *config.recipe.task; }
  /// The task as a `Wanted`. InputError for a run of another task; `wanted` names it.
  template <class Wanted>
  Wanted& task_as(const std::string& wanted) const {
    if (auto* it = dynamic_cast<Wanted*>(&task())) return *it;
    refuse_task(folder, config, wanted);
  }
};
/// Opens a run of any task. InputError naming the file for anything missing, broken or contradicting the rest
/// of the run.
OpenTask open_task(const std::string& path, Device device = Device::cpu);
/// The same without reading the weights: the model has a layout, but no memory.
OpenTask open_task_without_weights(const std::string& path);

/// A run whose task is language modelling.
struct OpenRun {
  RunFolder folder;
  RunConfig config;
  Vocabulary vocabulary;
  std::unique_ptr<LanguageModel> model;  // with the best weights; dropout off
};
/// Whether the model has learnt `<unk>`, so that its figures with unknown symbols mean something.
bool unknown_is_trained(const RunConfig& config, const Vocabulary& vocabulary);
/// InputError as of open_task(), and for a run of another task.
OpenRun open_run(const std::string& path, Device device = Device::cpu);
OpenRun open_run_without_weights(const std::string& path);

}  // namespace rondo
