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

OpenTranslator open_translator(const std::string& path, Device device) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  check_kind(folder, config, TaskKind::translation);
  std::vector<Vocabulary> read = read_vocabularies(folder, config);
  PairVocabularies vocabularies{std::move(read[0]), std::move(read[1])};
  auto model = std::make_unique<EncoderDecoder>(config.recipe.translation.model, vocabularies.source.size(),
                                                vocabularies.target.size(), std::nullopt);
  check_has_model(folder, *model);
  model->allocate(device);
  load_model(folder.model(), *model);
  return {std::move(folder), std::move(config), std::move(vocabularies), std::move(model)};
}

}  // namespace rondo
