// The CTC loss and its gradient on both devices at its limits; else: function_cases.h. Its kernels are those
// of tensor/kernels/ctc.h.
#include "autograd/ctc_loss.h"

#include "tests/cuda/device.h"

namespace rondo {
namespace {

using Variables = std::vector<Variable>;

/// Sequences of up to `most` labels, some of them repeated, over up to T frames.
CtcTargets some_targets(int64_t B, int64_t T, int32_t most, int32_t V) {
  std::vector<std::vector<int32_t>> labels;
  Lengths frames;
  for (int64_t b = 0; b < B; ++b) {
    std::vector<int32_t> mine;
    for (int32_t j = 0; j < most - static_cast<int32_t>(b); ++j) mine.push_back(1 + (j / 2 + j) % (V - 1));
    labels.push_back(mine);
    frames.push_back(T - 2 * b);
  }
  return {labels, frames};
}

// More states than threads of a block, and so many frames that probabilities are rescaled.
TEST(CtcLossOnGpu, OfManyLabels) {
  NEED_GPU();
  const CtcTargets few = some_targets(3, 30, 17, 9), many = some_targets(1, 258, 257, 300);
  expect_same_on_both([&](const Variables& x) { return ctc_loss(x[0], few); }, samples({{30, 3, 9}}));
  expect_same_on_both([&](const Variables& x) { return ctc_loss(x[0], many); }, samples({{258, 1, 300}}));
}

TEST(CtcLossOnGpu, OfNoFramesAndOfNoSequences) {
  NEED_GPU();
  expect_same_on_both(
      [](const Variables& x) {
        return ctc_loss(x[0], CtcTargets({{}, {1}}, {0, 0}));
      },
      samples({{0, 2, 3}}));
  expect_same_on_both([](const Variables& x) { return ctc_loss(x[0], CtcTargets({}, {})); },
                      samples({{4, 0, 3}}));
}

}  // namespace
}  // namespace rondo
