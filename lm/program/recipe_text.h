// The text of a recipe, its section [data]: its files, its vocabulary, and its SHA-256 digests. Next:
// lm/program/run.h.
#pragma once

#include <cstdint>
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
  std::vector<std::string> files{};  // patterns
  std::int64_t block_lines = 100;
};
Keys keys_of(TextOptions& options);

/// The vocabulary of the texts that data.vocabulary selects.
Vocabulary vocabulary_of(const TextOptions& options, const CorpusText& text, SymbolOrder order);

/// The texts at `data`: a folder or one file; with data.files the matching files of the folder. InputError if
/// `data` is missing or lacks a file that the recipe needs.
CorpusText open_text(const TextOptions& options, const std::string& data, Pipes pipes);

/// "HEX  FILE" of each file, as sha256sum prints.
std::vector<std::string> sha256_lines(const std::vector<FileDigest>& files);

}  // namespace rondo
