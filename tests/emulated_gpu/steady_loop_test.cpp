// What only an emulated GPU can count: that the host neither waits nor copies anything but one block a step.
#include <gtest/gtest.h>

#include "tests/emulated_gpu/emulated_gpu.h"
#include "tests/lm/training/small_training.h"

namespace rondo {
namespace {

TEST(EmulatedGpu, AStepIsOneUploadAndOneGraphAndNoWait) {
  const std::vector<int32_t> ids = some_ids(4000);
  Recipe recipe = small_recipe("lstm");
  recipe.trainer.clip = 0.25;
  Training training(recipe, 11, ids, {}, Device::cuda);
  advance(training, 2);
  const emulated_gpu::Counts before = emulated_gpu::counts();
  advance(training, 20);
  const emulated_gpu::Counts& after = emulated_gpu::counts();
  EXPECT_EQ(after.waits, before.waits);
  EXPECT_EQ(after.uploads, before.uploads + 20);
  EXPECT_EQ(after.graph_launches, before.graph_launches + 20);
  EXPECT_EQ(after.system_allocations, before.system_allocations);
}

// Tensor cores load 16 bytes at once; whatever widths a model has, no product of a step is kept from it.
TEST(EmulatedGpu, ProductsOfOddWidthsAreOfAlignedRows) {
  const std::vector<int32_t> ids = some_ids();
  for (const std::string cell : {"lstm", "mlstm"})
    for (const int64_t experts : {1, 3}) {
      Recipe recipe = small_recipe(cell);
      recipe.model.hidden = {7, 9};
      recipe.model.embedding = 5;
      recipe.model.variational = true;
      recipe.model.regularization.weight_drop = 0.3;
      recipe.model.experts = experts;
      if (experts > 1) recipe.model.embedding = 8;  // whose vectors, one for each expert, lie side by side
      Training training(recipe, 11, ids, {}, Device::cuda);
      const int64_t before = emulated_gpu::counts().unaligned;
      advance(training, 3);
      EXPECT_EQ(emulated_gpu::counts().unaligned, before) << cell << ", " << experts;
    }
}

}  // namespace
}  // namespace rondo
