// Recurrent stacks of each cell on a GPU: the same bits each time, and what a loop of many steps asks of the
// memory.
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

INSTANTIATE_TEST_SUITE_P(Cells, StackOnGpu, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace rondo
