// The text of a language model, as section [data] of a recipe names it: its files and its vocabulary. Next:
// lm/tasks/language_modelling.h.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "data/files/files.h"
#include "data/text/corpus.h"
#include "data/text/vocabulary.h"
#include "lm/tasks/task.h"
#include "tensor/error.h"
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
inline Keys keys_of(TextOptions& options) {
  return joined(
      {keys_of(options.tokenization),
       {{"vocabulary", choice(options.vocabulary),
         "the texts whose symbols form the vocabulary: train.txt; or train.txt, valid.txt and "
         "test.txt, in this order, as in the code of AWD-LSTM, which uses the words of the test "
         "text, so that none is unknown"},
        {"vocabulary_file", &options.vocabulary_file, any_text(), "",
         "a file with the symbols of the vocabulary, one per line, as another run's vocab.txt, in place of "
         "those of the texts; empty: none"}},
       keys_of(options.limits),
       {{"train_files", &options.train_files,
         "the files of the data folder that match these patterns are the training text, in the order of "
         "their names, in place of train.txt or, if there is none, train-*.txt"},
        {"files", &options.files,
         "train on the files of the data folder that match these patterns, as in [\"**/*.txt\"], in place of "
         "train.txt and valid.txt; ** stands for folders of any depth"},
        {"block_lines", &options.block_lines, at_least(1), "lines",
         "with data.files: length of a block; every tenth block is held out for validation"},
        {"memory", &options.memory, between(0, 1 << 20), "MiB",
         "longer texts are not held in memory: they are read in parts, and their ids lie in a file in "
         "$XDG_CACHE_HOME/rondo or ~/.cache/rondo, which is mapped"}}});
}

/// The vocabulary of the texts that data.vocabulary selects, or of data.vocabulary_file. InputErrors of
/// Vocabulary::from_text() for that.
inline Vocabulary vocabulary_of(const TextOptions& options, const CorpusText& text, SymbolOrder order) {
  if (!options.vocabulary_file.empty()) return read_vocabulary(options.vocabulary_file, options.tokenization);
  std::vector<const Text*> texts{&text.train};
  if (options.vocabulary == VocabularyFrom::all) {
    texts.push_back(&text.valid);
    if (text.test) texts.push_back(&*text.test);
  }
  return {texts, options.tokenization, options.limits, order};
}

/// A note if words of a vocabulary have punctuation at their ends, as in a text that is not tokenized; else
/// empty.
inline std::string note_of_punctuation(const Vocabulary& vocabulary) {
  constexpr double most = 0.02;  // of the words of a tokenized text fewer end so
  const Tokenization& tokenization = vocabulary.tokenization();
  if (tokenization.unit != Unit::words || tokenization.tokenize) return "";
  double count = 0;
  std::string example;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id)
    if (const std::string& word = vocabulary.symbol(id);
        word.size() > 1 && std::string_view(",;:?!").find(word.back()) != word.npos)
      if (count++ == 0) example = printable(word);
  const double share = count / static_cast<double>(vocabulary.size());
  return share < most ? ""
                      : fmt::format(
                            "{:.0f} % of the vocabulary's words end in punctuation, as '{}' does: --set "
                            "data.tokenize=true separates it",
                            100 * share, example);
}

inline TextReading reading_of(const TextOptions& options, const ReadingProgress& progress) {
  return {.most_in_memory = static_cast<std::uint64_t>(options.memory) << 20,
          .progress = progress,
          .train_files = options.train_files};
}

/// The texts at `data`: a folder or one file; with data.files the matching files of the folder. Those longer
/// than data.memory are not held in memory; `progress` shows how they are read. InputError if `data` is
/// missing or lacks a file that the recipe needs.
inline CorpusText open_text(const TextOptions& options, const std::string& data, Pipes pipes,
                            const ReadingProgress& progress = {}) {
  const Unit unit = options.tokenization.unit;
  const TextReading reading = reading_of(options, progress);
  if (options.files.empty()) {
    check_input(!data.empty(),
                "which text? give --data a folder with train.txt and valid.txt, or one text file");
    return open_corpus(data, unit, pipes, reading);
  }
  check_input(
      options.train_files.empty(),
      "data.files and data.train_files: the former are cut into training and validation text, beside the "
      "latter there is a valid.txt; choose one of them");
  const std::vector<std::filesystem::path> paths = files_named(data, options.files);
  check_input(!paths.empty(),
              "no file of {} matches the patterns of data.files ({}); give the right folder with --data, or "
              "--set data.files=[] to read its train.txt and valid.txt",
              data, options.files.front() + (options.files.size() > 1 ? ", ..." : ""));
  return corpus_of_files(paths, options.block_lines, unit, reading);
}

/// The folder for the ids of long texts: $XDG_CACHE_HOME/rondo, else ~/.cache/rondo; empty if the system
/// names neither.
inline std::filesystem::path ids_folder() {
  const auto value_of = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::filesystem::path(value ? value : "");
  };
  const std::filesystem::path cache = value_of("XDG_CACHE_HOME"), home = value_of("HOME");
  if (cache.is_absolute()) return cache / "rondo";  // by its specification a relative one is ignored
  return home.empty() ? home : home / ".cache" / "rondo";
}

}  // namespace rondo
