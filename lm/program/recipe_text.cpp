// The text of a recipe.
#include "lm/program/recipe_text.h"

#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "tensor/error.h"

namespace rondo {
namespace {

/// Files below `folder` that a shell pattern names.
std::vector<std::filesystem::path> matches(const std::filesystem::path& folder, const std::string& pattern) {
  glob_t found;
  std::vector<std::filesystem::path> paths;
  if (glob((folder / pattern).c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

}  // namespace

Keys keys_of(TextOptions& options) {
  return joined(
      {keys_of(options.tokenization),
       {{"vocabulary",
         choice(options.vocabulary),
         {},
         "",
         "the texts whose symbols form the vocabulary: train.txt; or train.txt, valid.txt and "
         "test.txt, in this order, as in the code of AWD-LSTM, which uses the words of the test "
         "text, so that none is unknown"}},
       keys_of(options.limits),
       {{"files",
         &options.files,
         {},
         "",
         "train on the files of the data folder that match these patterns, in place of train.txt and "
         "valid.txt"},
        {"block_lines", &options.block_lines, at_least(1), "lines",
         "with data.files: length of a block; every tenth block is held out for validation"}}});
}

Vocabulary vocabulary_of(const TextOptions& options, const CorpusText& text, SymbolOrder order) {
  std::vector<const Text*> texts{&text.train};
  if (options.vocabulary == VocabularyFrom::all) {
    texts.push_back(&text.valid);
    if (text.test) texts.push_back(&*text.test);
  }
  return {texts, options.tokenization, options.limits, order};
}

CorpusText open_text(const TextOptions& options, const std::string& data, Pipes pipes) {
  const Unit unit = options.tokenization.unit;
  if (options.files.empty()) {
    check_input(!data.empty(),
                "which text? give --data a folder with train.txt and valid.txt, or one text file");
    return open_corpus(data, unit, pipes);
  }
  const std::filesystem::path folder = data;
  std::vector<std::filesystem::path> paths;
  for (const std::string& pattern : options.files) {
    const auto found = matches(folder, pattern);
    paths.insert(paths.end(), found.begin(), found.end());
  }
  check_input(!paths.empty(),
              "no file of {} matches the patterns of data.files ({}); give the right folder with --data",
              folder.string(), fmt::join(options.files, ", "));
  return corpus_of_files(std::move(paths), options.block_lines, unit);
}

std::vector<std::string> sha256_lines(const std::vector<FileDigest>& files) {
  std::vector<std::string> lines;
  for (const FileDigest& file : files) lines.push_back(file.sha256 + "  " + file.path);
  return lines;
}

}  // namespace rondo
