// A recipe: every setting of a training, with its default. It contains the very structs that the code reads,
// each with its table of keys beside it (tensor/keys.h); here they become sections. Reading, writing and
// checking: settings.h, recipe_validation.h. Where recipes come from: recipes.h.
#pragma once

#include <cstdint>
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

namespace rondo {

struct Recipe {
  std::string name, description, paper;
  PublishedFigures published;
  TextOptions data;  // and of section [data] what the task says of batches and evaluations

  struct Model {
    std::string cell = "lstm";
    std::int64_t layers = 1, embedding = 200, biases = 2, intermediate = -1, experts = 1;
    std::vector<std::int64_t> hidden = {200}, transition, output_layers;
    std::string output_activation = "tanh";
    std::vector<double> major_ratio = {1};
    std::string minor_input = "embedding";
    bool bidirectional = false, tied = false, variational = false;
    double dropout = 0, input_dropout = -1, hidden_dropout = -1, output_dropout = -1, embedding_dropout = 0;
    double weight_drop = 0, recurrent_dropout = 0, zoneout = 0, zoneout_memory = 0, latent_dropout = 0;
    std::string input_init = "pytorch", recurrent_init = "pytorch", output_init = "pytorch";
    double input_range = 0.1, recurrent_range = 0.1, output_range = 0.1, embedding_range = 0.1, init_all = 0,
           forget_bias = 0;
    double alpha = 1, beta1 = 0.5, beta2 = 0.5, integration_bias = 0;
  } model;

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

/// Whether a setting of [model] is no part of a trained model: what drops units or keeps them for a step.
bool acts_in_training_alone(const std::string& key);

}  // namespace rondo
