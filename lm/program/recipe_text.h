// The text of a recipe: where its files are, its vocabulary, and how it is known again. A run that is opened
// for use is lm/program/run.h.
#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/vocabulary.h"
#include "lm/program/recipe.h"

namespace rondo {

Tokenization tokenization_of(const Recipe& recipe);
/// Of the texts that data.vocabulary names.
Vocabulary vocabulary_of(const Recipe& recipe, const CorpusText& text);

/// The texts that `data` names: a folder or one file; with data.files the matching files of the folder.
/// InputError if data is missing or does not hold what the recipe needs.
CorpusText open_text(const Recipe& recipe, const std::string& data, Pipes pipes);

/// "HEX  FILE" of each file of a text, as sha256sum prints.
std::vector<std::string> sha256_lines(const CorpusText& text);

/// Whether a text is the one that such lines were made of, wherever it lies now.
bool is_same_text(const std::vector<std::string>& sha256_lines, const CorpusText& text);

}  // namespace rondo
