// From a recipe to the objects that it describes: model, task and trainer. Files are read in
// lm/program/recipes.h and lm/training/checkpoint.h. Next: lm/program/train.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lm/program/recipe.h"
#include "lm/tasks/language_modelling.h"
#include "lm/training/trainer.h"
#include "nn/models/language_model.h"

namespace rondo {

LanguageModelOptions model_options(const Recipe& recipe);

/// The model of a recipe of any kind, on Device::meta, for the sizes of its vocabularies: in translation the
/// source's and the target's, in multi-task learning those of its languages, in classification that of the
/// words and the number of classes, else one.
std::unique_ptr<Module> make_layout(const Recipe& recipe, const std::vector<int64_t>& vocabulary_sizes);

/// The model, task and trainer of a recipe. The ids must outlive it; `line_end` is the id that ends a line,
/// for texts that are read by lines, and `unknown_id` that of `<unk>`.
struct Training {
  Training(const Recipe& recipe, int64_t vocabulary_size, std::span<const int32_t> train_ids,
           std::optional<int32_t> line_end = {}, Device device = Device::cpu,
           std::span<const int32_t> valid_ids = {}, std::optional<int32_t> unknown_id = {});

  LanguageModel model;
  LanguageModelling task;
  Trainer trainer;
};

}  // namespace rondo
