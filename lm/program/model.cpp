// From a recipe to the objects that it describes.
#include "lm/program/model.h"

#include "lm/program/multi_task_text.h"
#include "nn/models/attentive_reader.h"
#include "nn/models/sentence_classifier.h"
#include "nn/models/shared_encoder_decoders.h"

namespace rondo {
namespace {

std::uint64_t seed_of(const Recipe& recipe) { return static_cast<std::uint64_t>(recipe.trainer.seed); }

}  // namespace

LanguageModelOptions model_options(const Recipe& recipe) {
  LanguageModelOptions options = layer_by_layer(recipe.model);
  options.max_time_steps = recipe.task.batches.chunks.length;
  return options;
}

std::unique_ptr<Module> make_layout(const Recipe& recipe, const std::vector<int64_t>& vocabulary_sizes) {
  const auto size = [&](std::size_t i) { return vocabulary_sizes.at(i); };
  const EncoderDecoderOptions& translator = recipe.translation.model;
  switch (recipe.kind) {
    case TaskKind::translation:
      return std::make_unique<EncoderDecoder>(translator, size(0), size(1), 1, Device::meta);
    case TaskKind::multi_task: {
      std::map<std::string, std::int64_t> sizes;
      for (const std::string& language : languages_of(recipe.tasks))
        sizes.emplace(language, size(sizes.size()));
      return std::make_unique<SharedEncoderDecoders>(translator, sizes, routes_of(recipe.tasks), 1,
                                                     Device::meta);
    }
    case TaskKind::classification:
      return std::make_unique<SentenceClassifier>(recipe.classification.model, size(0), size(1), 1,
                                                  Device::meta);
    case TaskKind::question_answering:
      return std::make_unique<AttentiveReader>(recipe.question_answering.model, size(0), size(1), 1,
                                               Device::meta);
    case TaskKind::skip_thought:
      return std::make_unique<SkipThought>(recipe.skip_thought.model, size(0), 1, Device::meta);
    case TaskKind::speech:
      return std::make_unique<CtcModel>(recipe.speech.model, width_of(recipe.speech.data.frames), size(0), 1,
                                        Device::meta);
    default:
      return std::make_unique<LanguageModel>(model_options(recipe), size(0), 1, Device::meta);
  }
}

Training::Training(const Recipe& recipe, int64_t vocabulary_size, std::span<const int32_t> train_ids,
                   std::optional<int32_t> line_end, Device device, std::span<const int32_t> valid_ids,
                   std::optional<int32_t> unknown_id)
    : model(model_options(recipe), vocabulary_size, seed_of(recipe), device),
      task(model, recipe.task, train_ids, valid_ids, line_end, seed_of(recipe), unknown_id),
      trainer(task, recipe.trainer) {}

}  // namespace rondo
