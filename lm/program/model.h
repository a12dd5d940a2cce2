// From a recipe to the objects that it names: the model, the optimizer, the schedule.
// It deliberately reads no files: that is lm/program/recipes.h and lm/training/checkpoint.h. Next:
// lm/program/train.h.
#pragma once

#include <cstdint>

#include "lm/evaluation/evaluation.h"
#include "lm/program/recipe.h"
#include "lm/tasks/batches.h"
#include "nn/models/language_model.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace rondo {

LanguageModelOptions model_options(const Recipe& recipe);
/// Whether a training computes segments, lines for one, without their padding.
bool leaves_out_padding(const LanguageModelOptions& options, Device device);
/// `line_end` is the id that ends a line.
BatchOptions batch_options(const Recipe& recipe, std::optional<int32_t> line_end);
OptimizerOptions optimizer_options(const Recipe& recipe);
ScheduleOptions schedule_options(const Recipe& recipe);
/// How evaluations during training read a text, and how final figures do: both as data.evaluated_as says.
/// `line_end` is the id that ends a line.
Reading validation_reading(const Recipe& recipe, std::optional<int32_t> line_end);
Reading final_reading(const Recipe& recipe, std::optional<int32_t> line_end);

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
