// A small text, a small recipe and some steps, for tests of trainings.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "lm/settings/settings.h"
#include "lm/training/checkpoint.h"
#include "tests/lm/training/training.h"

namespace rondo {

/// Symbols of 11 types.
inline std::vector<int32_t> some_ids(size_t count = 400) {
  std::vector<int32_t> ids(count);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * i + i / 3) % 11);
  return ids;
}

/// The text of most trainings.
inline const std::vector<int32_t> small_text = some_ids();

/// Changes settings of a recipe, as `lm train --set` does.
inline void set(Recipe& recipe, const std::string& settings) {
  std::istringstream words(settings);
  for (std::string word; words >> word;) apply_setting(parse_setting(word), keys_of(recipe));
}

/// Two layers, micro-batches, Adam.
inline Recipe small_recipe(const std::string& cell) {
  Recipe recipe;
  set(recipe, "model.cell=" + cell +
                  " model.layers=2 model.embedding=6 model.hidden=[6] model.dropout=0.3 train.batch=4 "
                  "train.micro_batch=2 train.length=7 train.optimizer=adam");
  return recipe;
}

/// So many steps, from epoch to epoch; what they came to is not asked.
template <class AnyTraining>
void advance(AnyTraining& training, int steps) {
  for (int i = 0; i < steps; ++i) {
    if (!training.trainer.next_batch()) {
      training.trainer.begin_next_epoch();
      ASSERT_TRUE(training.trainer.next_batch());
    }
    training.trainer.step();
  }
}

/// A step on the staged batch, and what it came to.
inline StepMetrics update(Training& training) {
  training.trainer.step();
  return training.trainer.metrics();
}

inline void updates(Training& training, int count) {
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(training.trainer.next_batch());
    update(training);
  }
}

/// With what ends a training.
inline Recipe small_recipe_that_ends(const std::string& cell) {
  Recipe recipe = small_recipe(cell);
  set(recipe, "train.schedule=plateau train.early_stopping=3 train.weight_noise=0.05");
  return recipe;
}

/// All that acts on cells from outside.
inline Recipe rich_recipe(Batching batching) {
  Recipe recipe = small_recipe_that_ends("gru");
  recipe.language_model().train.batches.batching = batching;
  set(recipe,
      "model.major_ratio=[0.5,0.7] model.minor_input=previous_layer model.variational=true "
      "model.recurrent_dropout=0.2 model.zoneout=0.3");
  return recipe;
}

/// With what AWD-LSTM adds to a training.
inline Recipe averaging_recipe() {
  Recipe recipe = rich_recipe(Batching::streams);
  set(recipe,
      "train.optimizer=sgd train.learning_rate=0.5 train.schedule=constant "
      "train.length_deviation=2 train.activation_regularization=2 "
      "train.temporal_regularization=3 train.averaging=non_monotonic train.averaging_interval=1 "
      "train.early_stopping=0");
  return recipe;
}

}  // namespace rondo
