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

}  // namespace rondo
