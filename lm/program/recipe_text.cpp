// The text of a recipe.
#include "lm/program/recipe_text.h"

#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

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

}  // namespace rondo
