// Recurrent stacks of each cell on a GPU: the same bits each time, and what a loop of many steps asks of the
// memory.
#include "cuda/runtime.h"
#include "nn/recurrent/recurrent_stack.h"
#include "tensor/allocator.h"
#include "tests/cuda/device.h"
#include "tests/nn/parameters.h"

namespace rondo {
namespace {

struct Stack : Module {
  static constexpr int64_t T = 5, B = 8, I = 4, H = 6;

  explicit Stack(const std::string& cell)
      : stack(*this, "rnn",
              {.cell = cell,
               .layers = {pytorch_cell(I, H), pytorch_cell(H, H)},
               .dropout = 0.3,
               .regularization = {.dropout = 0.2, .zoneout = 0.3}}),
        x(*this, "x", {T, B, I}, uniform_values(1)) {
    finalize(3, 0, Device::cuda);
    set_training(true);
  }
  /// The output, from a zero state; its gradients are added up in gradients().
  std::vector<real> run(uint64_t update) {
    begin_update({.seed = 3, .update = update, .slice = {B, 0, B}});
    Variable loss;
    std::vector<real> output;
    {
      const RecurrentStack::Result result = stack(x, stack.initial_states(B));
      output = result.output.value().to_vector();
      loss = sum(square(result.output)) + sum(result.states.back().h);
    }
    loss.backward();
    return output;
  }

  RecurrentStack stack;
  Parameter x;
};

class StackOnGpu : public testing::TestWithParam<std::string> {};

// Two runs of one history have the same bits: every sum has an order.
TEST_P(StackOnGpu, RepeatsItself) {
  NEED_GPU();
  Stack first(GetParam()), second(GetParam());
  EXPECT_EQ(first.run(1), second.run(1));
  EXPECT_EQ(first.gradients().to_vector(), second.gradients().to_vector());
}

TEST_P(StackOnGpu, AsksForNoMoreMemoryInASteadyLoop) {
  NEED_GPU();
  Stack stack(GetParam());
  for (uint64_t update = 1; update < 3; ++update) stack.run(update);
  const auto before = memory_statistics(Device::cuda);
  for (uint64_t update = 3; update < 6; ++update) stack.run(update);
  EXPECT_EQ(memory_statistics(Device::cuda).system_allocations, before.system_allocations);
  EXPECT_EQ(memory_statistics(Device::cuda).bytes_in_use, before.bytes_in_use);
}

// All steps of a cell that scans are one launch, forward and backward.
TEST(ScansOnGpu, TakeAsManyLaunchesForLongSequencesAsForShortOnes) {
  NEED_GPU();
  int found = 0;
  for (const std::string& cell : cell_names()) {
    Module root;
    RecurrentLayer layer(root, cell, "", pytorch_cell(4, 4));
    if (!layer.cell().scans()) continue;
    SCOPED_TRACE(cell);
    ++found;
    root.finalize(3, 0, Device::cuda);
    const auto launches_of = [&](int64_t T) {
      const Tensor x = Tensor::filled({T, 3, 4}, real(0.5), Device::cuda);
      const int64_t before = cuda::launches();
      const RecurrentLayer::Result result = layer(x, layer.cell().initial_state(3));
      sum(square(result.output)).backward();
      return cuda::launches() - before;
    };
    launches_of(50);
    EXPECT_EQ(launches_of(80), launches_of(50));
  }
  EXPECT_GE(found, 5);
}

INSTANTIATE_TEST_SUITE_P(Cells, StackOnGpu, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace rondo
