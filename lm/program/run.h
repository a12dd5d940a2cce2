// A finished or interrupted run, opened for `eval`, `score`, `generate` and `info`, without changes to its
// folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/labelled_sentences.h"
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

/// The files of a run's vocabularies: of a translator the source's, then the target's; of multi-task learning
/// those of its languages; of a classifier also the classes; of a recogniser perhaps the statistics of
/// frames.
std::vector<std::filesystem::path> vocabulary_paths(const RunFolder& folder, const Recipe& recipe);

/// The files of a vocabulary in the order of writing: the model of pieces, then `file`, which lists the
/// symbols.
VocabularyFiles files_of(const Vocabulary& vocabulary, const std::filesystem::path& file);

/// Reads a vocabulary, of pieces with their model beside it. InputError, naming the file, if one is missing
/// or broken. Without sentencepiece one of pieces cannot encode.
Vocabulary read_vocabulary(const std::filesystem::path& file, const Tokenization& tokenization);

/// Reads a run's vocabularies. InputError, naming the file, if one is missing or broken, or if they are not
/// those that the run was made with. Without sentencepiece those of pieces cannot encode.
std::vector<Vocabulary> read_vocabularies(const RunFolder& folder, const RunConfig& config);

/// The classes of a classifier. InputError, naming the file, if it is missing or broken.
Labels read_labels(const RunFolder& folder);

/// What a model needs to know of a vocabulary, or of classes, of which each is a type.
struct SymbolTable {
  std::int64_t size, types;
};
/// Of each of vocabulary_paths(). The same InputErrors.
std::vector<SymbolTable> symbol_tables(const RunFolder& folder, const RunConfig& config);
std::vector<std::int64_t> sizes_of(const std::vector<SymbolTable>& tables);

/// The command that applies a model of this task.
std::string command_for(TaskKind kind);

/// InputError unless the run is of this task.
void check_kind(const RunFolder& folder, const RunConfig& config, TaskKind kind);
/// InputError unless the run has a model, of this layout.
void check_has_model(const RunFolder& folder, const Module& layout);

struct OpenRun {
  RunFolder folder;
  RunConfig config;
  Vocabulary vocabulary;
  std::unique_ptr<LanguageModel> model;  // with the best weights; dropout off
};
/// Whether the model has learnt `<unk>`, so that its figures with unknown symbols mean something.
bool unknown_is_trained(const OpenRun& run);
/// InputError naming the file for anything missing, broken or contradicting the rest of the run.
OpenRun open_run(const std::string& path, Device device = Device::cpu);
/// The same without reading the weights: the model has a layout, but no memory.
OpenRun open_run_without_weights(const std::string& path);

}  // namespace rondo
