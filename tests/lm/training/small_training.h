// A small text, a small recipe and some steps, for tests of trainings.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lm/training/checkpoint.h"
#include "tests/lm/training/training.h"

namespace rondo {

/// Symbols of 11 types.
inline std::vector<int32_t> some_ids(size_t count = 400) {
  std::vector<int32_t> ids(count);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * i + i / 3) % 11);
  return ids;
}

/// Two layers, micro-batches, Adam.
inline Recipe small_recipe(const std::string& cell) {
  Recipe recipe;
  recipe.language_model().model.cell = cell;
  recipe.language_model().model.layers = 2;
  recipe.language_model().model.embedding = 6;
  recipe.language_model().model.hidden = {6};
  recipe.language_model().model.dropout = 0.3;
  recipe.language_model().train.batches.batch = 4;
  recipe.language_model().train.micro_batch = 2;
  recipe.language_model().train.batches.chunks.length = 7;
  recipe.trainer.optimizer.kind = OptimizerKind::adam;
  return recipe;
}

/// So many steps, from epoch to epoch; what they came to is not asked.
inline void advance(Training& training, int steps) {
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
  recipe.trainer.schedule.kind = ScheduleKind::plateau;
  recipe.trainer.early_stopping = 3;
  recipe.trainer.weight_noise = 0.05;
  return recipe;
}

/// All that acts on cells from outside.
inline Recipe rich_recipe(Batching batching) {
  Recipe recipe = small_recipe_that_ends("gru");
  recipe.language_model().train.batches.batching = batching;
  recipe.language_model().model.major_ratio = {0.5, 0.7};
  recipe.language_model().model.minor_input = MinorInput::previous_layer;
  recipe.language_model().model.variational = true;
  recipe.language_model().model.regularization.dropout = 0.2;
  recipe.language_model().model.regularization.zoneout = 0.3;
  return recipe;
}

/// With what AWD-LSTM adds to a training.
inline Recipe averaging_recipe() {
  Recipe recipe = rich_recipe(Batching::streams);
  recipe.trainer.optimizer.kind = OptimizerKind::sgd;
  recipe.trainer.optimizer.learning_rate = 0.5;
  recipe.trainer.schedule.kind = ScheduleKind::constant;
  recipe.language_model().train.batches.chunks.deviation = 2;
  recipe.language_model().train.activation_regularization = 2;
  recipe.language_model().train.temporal_regularization = 3;
  recipe.trainer.averaging = Averaging::non_monotonic;
  recipe.trainer.averaging_interval = 1;
  recipe.trainer.early_stopping = 0;
  return recipe;
}

}  // namespace rondo
