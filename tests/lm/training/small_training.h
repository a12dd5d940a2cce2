// A small text, a small recipe and some steps, for tests of trainings.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lm/program/model.h"
#include "lm/training/checkpoint.h"

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
  recipe.model.cell = cell;
  recipe.model.layers = 2;
  recipe.model.embedding = 6;
  recipe.model.hidden = {6};
  recipe.model.dropout = 0.3;
  recipe.task.batches.batch = 4;
  recipe.task.micro_batch = 2;
  recipe.task.batches.chunks.length = 7;
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
  recipe.task.batches.batching = batching;
  recipe.model.major_ratio = {0.5, 0.7};
  recipe.model.minor_input = MinorInput::previous_layer;
  recipe.model.variational = true;
  recipe.model.regularization.dropout = 0.2;
  recipe.model.regularization.zoneout = 0.3;
  return recipe;
}

/// With what AWD-LSTM adds to a training.
inline Recipe averaging_recipe() {
  Recipe recipe = rich_recipe(Batching::streams);
  recipe.trainer.optimizer.kind = OptimizerKind::sgd;
  recipe.trainer.optimizer.learning_rate = 0.5;
  recipe.trainer.schedule.kind = ScheduleKind::constant;
  recipe.task.batches.chunks.deviation = 2;
  recipe.task.activation_regularization = 2;
  recipe.task.temporal_regularization = 3;
  recipe.trainer.averaging = Averaging::non_monotonic;
  recipe.trainer.averaging_interval = 1;
  recipe.trainer.early_stopping = 0;
  return recipe;
}

}  // namespace rondo
