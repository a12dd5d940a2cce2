// A run opened for use.
#include "lm/program/run.h"

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/model.h"
#include "lm/training/checkpoint.h"

namespace rondo {
void check_vocabulary(const RunFolder& folder, const Provenance& made_by, const std::string& vocabulary) {
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
      Vocabulary::from_text(text, folder.vocabulary().string(), config.recipe.data.tokenization);
  check_vocabulary(folder, config.made_by, text);
  return vocabulary;
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
