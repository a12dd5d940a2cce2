// The text of a recipe, its section [data]: where its files are, its vocabulary, and how it is known again. A
// run that is opened for use is lm/program/run.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/vocabulary.h"
#include "tensor/keys.h"

namespace rondo {

/// Whose symbols have a row: those of train.txt, or of valid.txt and test.txt as well.
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

/// Of the texts that data.vocabulary names.
Vocabulary vocabulary_of(const TextOptions& options, const CorpusText& text);

/// The texts that `data` names: a folder or one file; with data.files the matching files of the folder.
/// InputError if data is missing or does not hold what the recipe needs.
CorpusText open_text(const TextOptions& options, const std::string& data, Pipes pipes);

/// "HEX  FILE" of each file of a text, as sha256sum prints.
std::vector<std::string> sha256_lines(const CorpusText& text);

/// Whether a text is the one that such lines were made of, wherever it lies now.
bool is_same_text(const std::vector<std::string>& sha256_lines, const CorpusText& text);

}  // namespace rondo
