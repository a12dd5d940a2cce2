// The text of a recipe, and a finished or interrupted run opened for use: what `eval`, `score`, `generate`
// and `info` start from. It deliberately changes nothing in the run's folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/corpus.h"
#include "data/vocabulary.h"
#include "lm/program/recipe.h"
#include "lm/program/run_folder.h"
#include "nn/models/language_model.h"

namespace rondo {

Tokenization tokenization_of(const Recipe& recipe);
/// Of the texts that data.vocabulary names.
Vocabulary vocabulary_of(const Recipe& recipe, const CorpusText& text);
/// InputError, naming vocab.txt, unless it is the vocabulary that the run was made with. A run that did not
/// note which passes.
void check_vocabulary(const RunFolder& folder, const MadeBy& made_by, const std::string& vocabulary);

/// Of a run's vocab.txt. InputError, naming it, for a broken one or another than the run was made with.
Vocabulary read_vocabulary(const RunFolder& folder, const RunConfig& config);

/// The texts that `data` names: a folder or one file; with data.files the matching files of the folder.
/// InputError if data is missing or does not hold what the recipe needs.
CorpusText open_text(const Recipe& recipe, const std::string& data, Pipes pipes);

/// "HEX  FILE" of each file of a text, as sha256sum prints.
std::vector<std::string> sha256_lines(const CorpusText& text);

/// Whether a text is the one that such lines were made of, wherever it lies now.
bool is_same_text(const std::vector<std::string>& sha256_lines, const CorpusText& text);

struct OpenRun {
  RunFolder folder;
  RunConfig config;
  Vocabulary vocabulary;
  std::unique_ptr<LanguageModel> model;  // with the best weights; dropout off
};
/// InputError naming the file for anything missing, broken or contradicting the rest of the run.
OpenRun open_run(const std::string& path, Device device = Device::cpu);
/// The same but for the values of the weights, which are not read: the model has a layout, but no memory.
OpenRun open_run_without_weights(const std::string& path);

}  // namespace rondo
