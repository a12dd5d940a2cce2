// A recipe: every setting of a training, with its default. It contains the structs that the code itself
// reads, each with its table of keys (tensor/keys.h); here they become sections. Reading, writing and
// checking: settings.h, recipe_validation.h. Where recipes come from: recipes.h.
#pragma once

#include <string>
#include <vector>

#include "lm/evaluation/dynamic_evaluation.h"
#include "lm/evaluation/neural_cache.h"
#include "lm/program/published_figures.h"
#include "lm/program/recipe_text.h"
#include "lm/program/run_options.h"
#include "lm/program/settings.h"
#include "lm/tasks/language_modelling.h"
#include "lm/training/trainer.h"
#include "nn/models/language_model_options.h"

namespace rondo {

struct Recipe {
  std::string name, description, paper;
  PublishedFigures published;
  TextOptions data;  // section [data] also has the task's keys of batches and evaluations

  LanguageModelOptions model;

  // Section [train].
  TrainerOptions trainer;
  LanguageModellingOptions task;
  RunOptions run;

  FinetuneOptions finetune;
  ReportOptions report;
  DynamicOptions dynamic;  // of `lm eval --dynamic`
  CacheOptions cache;      // of `lm eval --cache`
};

/// Every key of a recipe, bound to the members of `recipe`.
Keys keys_of(Recipe& recipe);

}  // namespace rondo
