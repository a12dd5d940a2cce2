// The text of a recipe, and a run opened for use.
#include "lm/program/run.h"

#include <glob.h>

#include <algorithm>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/model.h"
#include "lm/training/checkpoint.h"

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

Tokenization tokenization_of(const Recipe& recipe) {
  return {unit_from_string(recipe.data.unit), recipe.data.strip_lines};
}

Vocabulary vocabulary_of(const Recipe& recipe, const CorpusText& text) {
  std::vector<const Text*> texts{&text.train};
  if (recipe.data.vocabulary == "all") {
    texts.push_back(&text.valid);
    if (text.test) texts.push_back(&*text.test);
  }
  return {texts, tokenization_of(recipe), {recipe.data.min_count, recipe.data.max_size, recipe.data.unknown}};
}

void check_vocabulary(const RunFolder& folder, const MadeBy& made_by, const std::string& vocabulary) {
  check_input(
      made_by.vocabulary.empty() || made_by.vocabulary == sha256_hex(vocabulary),
      "{}: not the vocabulary that this run was made with, whose SHA-256 is {}: the model's rows would "
      "stand for other symbols",
      folder.vocabulary().string(), made_by.vocabulary);
}

Vocabulary read_vocabulary(const RunFolder& folder, const RunConfig& config) {
  constexpr std::uint64_t largest = 256 << 20;  // of tens of millions of words
  const std::string text = read_regular_file(folder.vocabulary(), largest);
  Vocabulary vocabulary =
      Vocabulary::from_text(text, folder.vocabulary().string(), tokenization_of(config.recipe));
  check_vocabulary(folder, config.made_by, text);
  return vocabulary;
}

CorpusText open_text(const Recipe& recipe, const std::string& data, Pipes pipes) {
  const Unit unit = unit_from_string(recipe.data.unit);
  if (recipe.data.files.empty()) {
    check_input(!data.empty(),
                "which text? give --data a folder with train.txt and valid.txt, or one text file");
    return open_corpus(data, unit, pipes);
  }
  const std::filesystem::path folder = data;
  std::vector<std::filesystem::path> paths;
  for (const std::string& pattern : recipe.data.files) {
    const auto found = matches(folder, pattern);
    paths.insert(paths.end(), found.begin(), found.end());
  }
  check_input(!paths.empty(),
              "no file of {} matches the patterns of data.files ({}); give the right folder with --data",
              folder.string(), fmt::join(recipe.data.files, ", "));
  return corpus_of_files(std::move(paths), recipe.data.block_lines, unit);
}

std::vector<std::string> sha256_lines(const CorpusText& text) {
  std::vector<std::string> lines;
  for (const FileDigest& file : text.files) lines.push_back(file.sha256 + "  " + file.path);
  return lines;
}

bool is_same_text(const std::vector<std::string>& sha256_lines, const CorpusText& text) {
  const auto same = [](const std::string& line, const FileDigest& file) {
    return line.substr(0, line.find(' ')) == file.sha256;
  };
  return std::equal(sha256_lines.begin(), sha256_lines.end(), text.files.begin(), text.files.end(), same);
}

OpenRun open_run_without_weights(const std::string& path) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  Vocabulary vocabulary = read_vocabulary(folder, config);
  check_input(file_is_there(folder.model()),
              "{} holds no model yet; it is written by the first evaluation of its training",
              folder.path.string());
  auto model = std::make_unique<LanguageModel>(model_options(config.recipe), vocabulary.size(), std::nullopt);
  check_model_layout(folder.model(), *model);
  return {std::move(folder), std::move(config), std::move(vocabulary), std::move(model)};
}

OpenRun open_run(const std::string& path, Device device) {
  OpenRun run = open_run_without_weights(path);
  run.model->allocate(device);
  load_model(run.folder.model(), *run.model);
  return run;
}

}  // namespace rondo
