// A run whose task is translation.
#include "lm/program/translator.h"

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/run.h"
#include "lm/training/checkpoint.h"

namespace rondo {

TranslationText translation_text(const TextPair& text, const PairVocabularies& vocabularies,
                                 bool reverse_source, std::int64_t max_length) {
  TranslationText result{.pairs = encode_pairs(text, vocabularies, max_length),
                         .target = &vocabularies.target,
                         .reverse_source = reverse_source};
  if (max_length == 0)
    for (const std::string_view line : split_lines(text.target.content)) result.references.emplace_back(line);
  return result;
}

std::vector<std::string> sha256_lines(const ParallelText& text) {
  std::vector<std::string> lines;
  for (const FileDigest& file : text.files) lines.push_back(file.sha256 + "  " + file.path);
  return lines;
}

OpenTranslator open_translator(const std::string& path, Device device) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  check_input(config.recipe.kind == TaskKind::translation,
              "{}: a run of the task {}, and this command is for translation", folder.path.string(),
              name_of(config.recipe.kind));
  const TranslationRecipe& recipe = config.recipe.translation;
  std::vector<Vocabulary> both = read_vocabularies(folder, config.made_by, recipe.data.tokenization,
                                                   {folder.source_vocabulary(), folder.target_vocabulary()});
  PairVocabularies vocabularies{std::move(both.front()), std::move(both.back())};
  check_input(file_is_there(folder.model()),
              "{} holds no model yet; it is written by the first evaluation of its training",
              folder.path.string());
  auto model = std::make_unique<EncoderDecoder>(recipe.model, vocabularies.source.size(),
                                                vocabularies.target.size(), std::nullopt);
  check_model_layout(folder.model(), *model);
  model->allocate(device);
  load_model(folder.model(), *model);
  return {std::move(folder), std::move(config), std::move(vocabularies), std::move(model)};
}

}  // namespace rondo
