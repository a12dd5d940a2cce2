// A finished or interrupted run, opened for `eval`, `score`, `generate` and `info`, without changes to its
// folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/vocabulary.h"
#include "lm/program/recipe_text.h"
#include "lm/program/run_folder.h"
#include "nn/models/language_model.h"

namespace rondo {

/// InputError for a run whose task is classification, which `command` cannot read.
void refuse_classifier(const RunFolder& folder, const RunConfig& config, const std::string& command);

/// InputError, naming the files, unless these are the vocabularies that the run was made with. A run without a
/// recorded SHA-256 passes.
void check_vocabularies(const RunFolder& folder, const Provenance& made_by,
                        const VocabularyFiles& vocabularies);

/// The content of a vocabulary's file. InputError if it is missing or too large.
std::string read_vocabulary_file(const std::filesystem::path& file);

/// Reads a run's vocab.txt. InputError, naming it, if it is broken or not the one that the run was made with.
Vocabulary read_vocabulary(const RunFolder& folder, const RunConfig& config);

struct OpenRun {
  RunFolder folder;
  RunConfig config;
  Vocabulary vocabulary;
  std::unique_ptr<LanguageModel> model;  // with the best weights; dropout off
};
/// InputError naming the file for anything missing, broken or contradicting the rest of the run.
OpenRun open_run(const std::string& path, Device device = Device::cpu);
/// The same without reading the weights: the model has a layout, but no memory.
OpenRun open_run_without_weights(const std::string& path);

}  // namespace rondo
