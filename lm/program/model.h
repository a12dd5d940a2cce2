// From a recipe to the objects that it names: the model, the optimizer, the schedule.
// It deliberately reads no files: that is lm/program/recipes.h and lm/training/checkpoint.h. Next:
// lm/program/train.h.
#pragma once

#include <cstdint>

#include "lm/evaluation/evaluation.h"
#include "lm/program/recipe.h"
#include "lm/tasks/language_modelling.h"
#include "lm/training/trainer.h"
#include "nn/models/language_model.h"

namespace rondo {

LanguageModelOptions model_options(const Recipe& recipe);
/// `line_end` is the id that ends a line.
BatchOptions batch_options(const Recipe& recipe, std::optional<int32_t> line_end);
LanguageModellingOptions language_modelling_options(const Recipe& recipe, std::optional<int32_t> line_end);
TrainerOptions trainer_options(const Recipe& recipe);
/// How evaluations during training read a text, and how final figures do: both as data.evaluated_as says.
/// `line_end` is the id that ends a line.
Reading validation_reading(const Recipe& recipe, std::optional<int32_t> line_end);
Reading final_reading(const Recipe& recipe, std::optional<int32_t> line_end);

/// What a recipe trains, how, and the trainer of it. The ids must outlive it; `line_end`, the id that ends a
/// line, is for what is read by lines.
struct Training {
  Training(const Recipe& recipe, int64_t vocabulary_size, std::span<const int32_t> train_ids,
           std::optional<int32_t> line_end = {}, Device device = Device::cpu,
           std::span<const int32_t> valid_ids = {});

  LanguageModel model;
  LanguageModelling task;
  Trainer trainer;
};

/// Where and how a command computes.
struct Compute {
  Device device;
  int threads;
  std::string precision;  // of products
};
/// Sets the number of threads (none: as it is), and how a GPU multiplies: "fp32" (none), "tf32" or
/// "bf16". InputError, saying why, if `device` is "cuda" and there is no GPU to compute on, or if a CPU is to
/// round.
Compute choose_device(const std::string& device, const std::optional<std::string>& precision,
                      std::optional<int> threads);

}  // namespace rondo
