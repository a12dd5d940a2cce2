// A run opened for use.
#include "lm/program/run.h"

#include <fmt/ranges.h>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/model.h"
#include "lm/training/checkpoint.h"

namespace rondo {

void check_vocabularies(const RunFolder& folder, const Provenance& made_by,
                        const VocabularyFiles& vocabularies) {
  std::vector<std::string> files;
  for (const auto& [name, content] : vocabularies) files.push_back((folder.path / name).string());
  check_input(
      made_by.vocabulary.empty() || made_by.vocabulary == digest_of(vocabularies),
      "{}: not the vocabulary that this run was made with, whose SHA-256 is {}: the model's rows would "
      "stand for other symbols",
      fmt::join(files, " and "), made_by.vocabulary);
}

std::string read_vocabulary_file(const std::filesystem::path& file) {
  constexpr std::uint64_t largest = 256 << 20;  // of tens of millions of words
  return read_regular_file(file, largest);
}

namespace {

std::filesystem::path pieces_beside(std::filesystem::path file) { return file.replace_extension(".pieces"); }

}  // namespace

VocabularyFiles files_of(const Vocabulary& vocabulary, const std::filesystem::path& file) {
  VocabularyFiles files;
  if (vocabulary.pieces())
    files.emplace_back(pieces_beside(file).filename().string(), vocabulary.pieces()->bytes());
  files.emplace_back(file.filename().string(), vocabulary.to_text());
  return files;
}

std::vector<Vocabulary> read_vocabularies(const RunFolder& folder, const Provenance& made_by,
                                          const Tokenization& tokenization,
                                          const std::vector<std::filesystem::path>& files) {
  std::vector<Vocabulary> vocabularies;
  VocabularyFiles contents;
  const auto read = [&](const std::filesystem::path& file) {
    return contents.emplace_back(file.filename().string(), read_vocabulary_file(file)).second;
  };
  for (const std::filesystem::path& file : files) {
    if (tokenization.unit == Unit::pieces) read(pieces_beside(file));
    vocabularies.push_back(Vocabulary::from_text(read(file), file.string(), tokenization));
  }
  check_vocabularies(folder, made_by, contents);
  if (tokenization.unit == Unit::pieces && has_sentencepiece())
    for (std::size_t i = 0; i < files.size(); ++i)
      vocabularies[i].read_pieces(contents[2 * i].second, pieces_beside(files[i]).string());
  return vocabularies;
}

Vocabulary read_vocabulary(const RunFolder& folder, const RunConfig& config) {
  return read_vocabularies(folder, config.made_by, config.recipe.data.tokenization, {folder.vocabulary()})
      .front();
}

OpenRun open_run_without_weights(const std::string& path) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  check_input(config.recipe.kind == TaskKind::language_modelling,
              "{}: a run of the task {}, and this command is for language models", folder.path.string(),
              name_of(config.recipe.kind));
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
