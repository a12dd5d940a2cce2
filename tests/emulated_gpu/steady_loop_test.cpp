// What only an emulated GPU can count: that the host neither waits nor copies anything but one block a step.
#include <gtest/gtest.h>

#include "lm/training.h"
#include "tests/emulated_gpu/emulated_gpu.h"

namespace rondo {
namespace {

TEST(EmulatedGpu, AStepIsOneUploadAndOneGraphAndNoWait) {
  std::vector<int32_t> ids(4000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * i + i / 3) % 11);
  Recipe recipe;
  recipe.model.layers = 2;
  recipe.model.embedding = 6;
  recipe.model.hidden = {6};
  recipe.model.dropout = 0.3;
  recipe.train.batch = 4;
  recipe.train.length = 7;
  recipe.train.optimizer = "adam";
  recipe.train.clip = 0.25;
  Training training(recipe, 11, ids, {}, Device::cuda);
  Chunk chunk;
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      ASSERT_TRUE(training.next_chunk(chunk));
      training.advance(chunk);
    }
  };
  run(2);
  const emulated_gpu::Counts before = emulated_gpu::counts();
  run(20);
  const emulated_gpu::Counts& after = emulated_gpu::counts();
  EXPECT_EQ(after.waits, before.waits);
  EXPECT_EQ(after.uploads, before.uploads + 20);
  EXPECT_EQ(after.graph_launches, before.graph_launches + 20);
  EXPECT_EQ(after.system_allocations, before.system_allocations);
}

}  // namespace
}  // namespace rondo
