// The text of a language model, as section [data] of a recipe names it: its files and its vocabulary. Next:
// lm/tasks/language_modelling.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/vocabulary.h"
#include "tensor/keys.h"

namespace rondo {

/// The texts whose symbols form the vocabulary: train.txt, or valid.txt and test.txt as well.
enum class VocabularyFrom { train, all };
inline std::vector<std::string> names_of(VocabularyFrom) { return {"train", "all"}; }

struct TextOptions {
  Tokenization tokenization{};
  VocabularyLimits limits{};
  VocabularyFrom vocabulary = VocabularyFrom::train;
  std::string vocabulary_file{};           // in place of the symbols of these texts; empty: none
  std::vector<std::string> train_files{};  // patterns
  std::vector<std::string> files{};        // patterns
  std::int64_t block_lines = 100;
  std::int64_t memory = 128;  // MiB of a text that is held in memory
};
Keys keys_of(TextOptions& options);

/// The vocabulary of the texts that data.vocabulary selects, or of data.vocabulary_file. InputErrors of
/// Vocabulary::from_text() for that.
Vocabulary vocabulary_of(const TextOptions& options, const CorpusText& text, SymbolOrder order);

/// The texts at `data`: a folder or one file; with data.files the matching files of the folder. Those longer
/// than data.memory are not held in memory; `progress` shows how they are read. InputError if `data` is
/// missing or lacks a file that the recipe needs.
CorpusText open_text(const TextOptions& options, const std::string& data, Pipes pipes,
                     const ReadingProgress& progress = {});
/// A text that a user names in place of one of these.
Text open_other_text(const TextOptions& options, const std::string& path, const ReadingProgress& progress);

/// The folder for the ids of long texts: $XDG_CACHE_HOME/rondo, else ~/.cache/rondo; empty if the system
/// names neither.
std::filesystem::path ids_folder();

}  // namespace rondo
