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

/// InputError, naming the files, unless these are the vocabularies that the run was made with. A run without
/// a recorded SHA-256 passes.
void check_vocabularies(const RunFolder& folder, const Provenance& made_by,
                        const VocabularyFiles& vocabularies);

/// The content of a vocabulary's file. InputError if it is missing or too large.
std::string read_vocabulary_file(const std::filesystem::path& file);

/// The files of a vocabulary in the order of writing: the model of pieces, then `file`, which lists the symbols.
VocabularyFiles files_of(const Vocabulary& vocabulary, const std::filesystem::path& file);
/// Reads the vocabularies of a run. InputError, naming the file, if one is broken or not the one that the run
/// was made with. Without sentencepiece those of pieces cannot encode.
std::vector<Vocabulary> read_vocabularies(const RunFolder& folder, const Provenance& made_by,
                                          const Tokenization& tokenization,
                                          const std::vector<std::filesystem::path>& files);
/// The same of a language model: vocab.txt.
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
