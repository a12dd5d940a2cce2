// A run opened for use.
#include "lm/program/run.h"

#include <fmt/ranges.h>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/model.h"
#include "lm/training/checkpoint.h"

namespace rondo {

void refuse_classifier(const RunFolder& folder, const RunConfig& config, const std::string& command) {
  check_input(config.recipe.kind != TaskKind::classification,
              "{}: a run of the task classification, which {} cannot read; lm eval {} measures it",
              folder.path.string(), command, folder.path.string());
}

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

Vocabulary read_vocabulary(const RunFolder& folder, const RunConfig& config) {
  const std::string text = read_vocabulary_file(folder.vocabulary());
  Vocabulary vocabulary =
      Vocabulary::from_text(text, folder.vocabulary().string(), config.recipe.data.tokenization);
  check_vocabularies(folder, config.made_by, {{folder.vocabulary().filename().string(), text}});
  return vocabulary;
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
