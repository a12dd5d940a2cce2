// A recipe: every setting of a training, with its default, in plain structs; and the one table of their
// names, limits and documentation (recipe.cpp), from which reading, writing and checking follow (settings.h).
// Deliberately without tensors: what the settings mean is built in model.h and training.h. Where recipes come
// from: recipes.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lm/evaluation/dynamic_evaluation.h"
#include "lm/evaluation/neural_cache.h"
#include "lm/program/settings.h"
#include "nn/models/language_model_options.h"

namespace rondo {

struct Recipe {
  std::string name, description, paper;

  /// What the paper reports, 0 where it reports nothing.
  struct Published {
    struct Figures {
      double valid = 0, test = 0;
    };
    Figures trained, finetuned, dynamic, cache;
    std::string unit = "perplexity";
    std::int64_t vocabulary = 0, test_symbols = 0;  // of the paper's text; 0: not known
  } published;

  struct Data {
    std::string unit = "words";
    std::string batching = "streams", evaluated_as = "batching";
    std::string vocabulary = "train";
    std::int64_t min_count = 1, max_size = 0;
    bool strip_lines = false, unknown = true;
    std::vector<std::string> files;
    std::int64_t block_lines = 100;
  } data;

  LanguageModelOptions model;

  struct Train {
    std::int64_t seed = 1, epochs = 10, batch = 20, length = 35, reset_every = 0, micro_batch = 0;
    std::string loss = "mean", optimizer = "adam";
    double learning_rate = 0, momentum = 0, weight_decay = 0, clip = 0, length_deviation = 0;
    double activation_regularization = 0, temporal_regularization = 0;
    std::string averaging = "never";
    std::int64_t averaging_interval = 5;
    std::string schedule = "constant";
    double decay = 0.5;
    std::vector<std::int64_t> decay_at;
    std::int64_t decay_after = 0, decay_every = 1, patience = 0, early_stopping = 0;
    bool non_monotonic_stopping = false;
    std::int64_t eval_every = 0, eval_streams = 1, final_streams = 1, log_every = 100;
    double save_every = 5;
  } train;

  /// What `lm finetune` makes of it: finetune.h.
  struct Finetune {
    double learning_rate = 0;
    std::int64_t epochs = 100;
  } finetune;

  struct Report {
    bool ngrams = false;
    std::int64_t sample = 0;
  } report;

  DynamicOptions dynamic;  // of `lm eval --dynamic`
  CacheOptions cache;      // of `lm eval --cache`
};

/// What made a run. Kept beside the recipe in the run's config.toml.
struct Provenance {
  std::string version, command, device = "cpu", precision = "fp32", data;
  std::int64_t threads = 0;
  std::vector<std::string> sha256;  // "HEX  FILE", as sha256sum prints
  std::string vocabulary;           // SHA-256 of vocab.txt; empty: made before it was noted
  std::string finetuned_from;       // the run whose best model this one began with; empty: none
};

/// The table: every key of a recipe, bound to the members of `recipe`.
std::vector<Key> keys_of(Recipe& recipe);
/// The same for section [made_by].
std::vector<Key> keys_of(Provenance& made_by);

}  // namespace rondo
