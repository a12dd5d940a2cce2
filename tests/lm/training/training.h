// A language model in training, by a recipe and the ids of a text: for tests and benchmarks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lm/program/recipe.h"

namespace rondo {

/// The ids must outlive it; `line_end` is the id that ends a line, for texts that are read by lines.
struct Training {
  Training(const Recipe& recipe, int64_t vocabulary_size, std::span<const int32_t> train_ids,
           std::optional<int32_t> line_end = {}, Device device = Device::cpu)
      : model(model_options(recipe.language_model()), vocabulary_size,
              static_cast<uint64_t>(recipe.trainer.seed), device),
        task(model, recipe.language_model().train, train_ids, {}, line_end,
             static_cast<uint64_t>(recipe.trainer.seed)),
        trainer(task, recipe.trainer) {}

  LanguageModel model;
  LanguageModelling task;
  Trainer trainer;
};

}  // namespace rondo
