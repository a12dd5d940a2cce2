// Every function on Variables that is not pointwise, on both devices. Of the kernels of
// tensor/kernels/kernels.h these cover Drop, ScaleRows, GatherRows, AccumulateRows, OneHot, MixtureLoss,
// CrossEntropyInPlace and TransposeFirstTwo; Moments, Softmax, LogSoftmax, MaskedSoftmax, MaxOverFirst,
// NormalizeRows and LogitsCrossEntropy with their backward passes; and the CTC loss at its limits.
// tests/tensor/tensors_on_gpu_test.cpp covers Fill, Copy, Accumulate, Scale, ColumnSums, PartialSums
// and DropoutMask.
#include "autograd/ctc_loss.h"
#include "tests/autograd/function_cases.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

using Variables = std::vector<Variable>;

TEST(FunctionsOnGpu, OfSeveralWidths) {
  NEED_GPU();
  for (const int64_t W : {5, 257, 600})
    for (const FunctionCase& it : function_cases(W)) {
      SCOPED_TRACE(fmt::format("{}, width {}", it.name, W));
      expect_same_on_both(it.f, samples(it.shapes, it.domain));
    }
}

TEST(FunctionsOnGpu, OfAwkwardShapes) {
  NEED_GPU();
  for (const Shape& shape : awkward_shapes) {
    SCOPED_TRACE(fmt::format("{}", shape));
    expect_same_on_both([](const Variables& x) { return square(sum(x[0])); }, samples({shape}));
    if (shape.columns() == 0) continue;  // there is no softmax of nothing
    expect_same_on_both([](const Variables& x) { return softmax(x[0]); }, samples({shape}));
    expect_same_on_both([](const Variables& x) { return log_softmax(x[0]); }, samples({shape}));
  }
  const auto of_block = samples({{3, 302}}, {-80, 80});  // of which many exp() are 0 in float
  expect_same_on_both([](const Variables& x) { return softmax(x[0].slice_columns(1, 301)); }, of_block);
  expect_same_on_both([](const Variables& x) { return log_softmax(x[0].slice_columns(1, 301)); }, of_block);
}

TEST(FunctionsOnGpu, EmbeddingOfManySymbols) {
  NEED_GPU();
  std::vector<int32_t> many;  // so many pairs that they are not kept until the end
  for (int i = 0; i < 3000; ++i) many.push_back(i * 31 % 17);
  expect_same_on_both([&](const Variables& x) { return tanh(embedding(x[0], tokens(many))); },
                      samples({{17, 3}}));
  EXPECT_THROW(embedding(Variable(Tensor::zeros({4, 3}, Device::cuda)), tokens({4})), Error);
}

/// Targets of `count` rows, every fifth of them ignored.
Tokens some_targets(int64_t count, int64_t V) {
  std::vector<int32_t> ids;
  for (int64_t r = 0; r < count; ++r) ids.push_back(static_cast<int32_t>(r % 5 == 3 ? -1 : r * 7919 % V));
  return tokens(ids);
}

/// The same; beside an x on a GPU as a step that may be replayed has them: ignored rows are computed, too.
Tokens staged(const Tokens& targets, const Variable& x) {
  if (!is_gpu(x.value().device())) return targets;
  return std::make_shared<const Indices>(targets->values(), targets->on(Device::cuda), true);
}

/// The same total, rows and gradients of a loss on both devices; and the same without gradients.
void expect_same_loss(const std::function<CrossEntropy(const Variables&)>& loss,
                      const std::vector<Tensor>& inputs) {
  const auto rows = static_cast<real>(inputs[0].rows());
  expect_same_on_both([&](const Variables& x) { return square(loss(x).total / rows); }, inputs);
  const auto evaluated_on = [&](Device device) {
    const NoGradient guard;
    Variables x;
    for (const Tensor& input : inputs) x.emplace_back(input.to(device));
    return loss(x);
  };
  const CrossEntropy on_cpu = evaluated_on(Device::cpu), on_gpu = evaluated_on(Device::cuda);
  expect_same(on_gpu.each, on_cpu.each, "the loss of each row");
  expect_same(on_gpu.total.value(), on_cpu.total.value(), "the total");
}

TEST(FunctionsOnGpu, LinearCrossEntropy) {
  NEED_GPU();
  for (const auto& [N, V, H] : {std::array<int64_t, 3>{1, 2, 1}, {7, 300, 33}, {11, 257, 5}}) {
    SCOPED_TRACE(fmt::format("{} rows, V {}, H {}", N, V, H));
    const auto targets = some_targets(N, V);
    expect_same_loss([&](const Variables& x) { return linear_cross_entropy(x[0], x[1], {}, targets); },
                     samples({{N, H}, {V, H}}, {-1, 1}));
    for (const double smoothing : {0.0, 0.3})
      expect_same_loss(
          [&](const Variables& x) { return linear_cross_entropy(x[0], x[1], x[2], targets, smoothing); },
          samples({{N, H}, {V, H}, {V}}, {-1, 1}));
    // Nothing but the input needs a gradient.
    expect_same_loss(
        [&](const Variables& x) {
          return linear_cross_entropy(x[0], x[1].detached(), x[2].detached(), targets);
        },
        samples({{N, H}, {V, H}, {V}}, {-1, 1}));
  }
  expect_same_loss(
      [&](const Variables& x) {
        return linear_cross_entropy(x[0], x[1], x[2], tokens({-1, -1, -1}));
      },
      samples({{3, 4}, {5, 4}, {5}}));
  // A row that is ignored may hold anything.
  expect_same_loss(
      [](const Variables& x) {
        return linear_cross_entropy(x[0] / x[2].detached(), x[1], {}, tokens({1, -1, 2}));
      },
      {samples({{3, 2}})[0], samples({{5, 2}})[0], Tensor::from({1, 1, 0, 0, 1, 1}, {3, 2})});
}

// On a GPU a row is kept in registers if it has up to 10,240 floats.
TEST(FunctionsOnGpu, LossesOfLongRows) {
  NEED_GPU();
  for (const int64_t V : {4099, 10240, 10243}) {
    SCOPED_TRACE(fmt::format("V {}", V));
    const auto targets = some_targets(2, V);
    expect_same_on_both([](const Variables& x) { return softmax(x[0]); }, samples({{2, V}}));
    expect_same_on_both([&](const Variables& x) { return cross_entropy(x[0], targets); }, samples({{2, V}}));
    expect_same_loss([&](const Variables& x) { return linear_cross_entropy(x[0], x[1], x[2], targets); },
                     samples({{2, 3}, {V, 3}, {V}}, {-1, 1}));
  }
  // With smoothed labels the kernel reads each row once more, before it is overwritten.
  for (const int64_t V : {50, 10000, 10240, 10241, 33278}) {
    SCOPED_TRACE(fmt::format("smoothed, V {}", V));
    const auto targets = some_targets(5, V);  // one of them is ignored
    expect_same_loss(
        [&](const Variables& x) {
          return linear_cross_entropy(x[0], x[1], x[2], staged(targets, x[0]), 0.1);
        },
        samples({{5, 3}, {V, 3}, {V}}, {-1, 1}));
  }
}

TEST(FunctionsOnGpu, LinearCrossEntropyInSeveralBlocks) {
  NEED_GPU();
  const int64_t N = 4000, V = 60;
  ASSERT_LT(cross_entropy_block_rows(N * 4 / 5, V, 1, Device::cuda), N * 4 / 5);
  const auto targets = some_targets(N, V);
  expect_same_loss([&](const Variables& x) { return linear_cross_entropy(x[0], x[1], x[2], targets); },
                   samples({{N, 3}, {V, 3}, {V}}, {-1, 1}));
}

TEST(FunctionsOnGpu, MixtureCrossEntropy) {
  NEED_GPU();
  for (const auto& [N, V, H, K] : {std::array<int64_t, 4>{1, 2, 1, 2}, {7, 300, 9, 3}, {3, 257, 4, 15}}) {
    SCOPED_TRACE(fmt::format("{} rows, V {}, H {}, K {}", N, V, H, K));
    const auto targets = some_targets(N, V);
    expect_same_loss(
        [&](const Variables& x) {
          return mixture_cross_entropy(x[0], log_softmax(x[1]), x[2], x[3], targets);
        },
        samples({{N, K * H}, {N, K}, {V, H}, {V}}, {-1, 1}));
    expect_same_loss(
        [&](const Variables& x) {
          return mixture_cross_entropy(tanh(x[0]), log_softmax(x[1]), x[2], {}, targets);
        },
        samples({{N, K * H}, {N, K}, {V, H}}, {-1, 1}));
  }
  // Whatever the weights of an ignored row sum to, it has no loss.
  const auto targets = some_targets(7, 300);
  expect_same_loss(
      [&](const Variables& x) {
        return mixture_cross_entropy(x[0], x[1], x[2], x[3], staged(targets, x[0]));
      },
      samples({{7, 27}, {7, 3}, {300, 9}, {300}}, {-1, 1}));
  ASSERT_LT(cross_entropy_block_rows(3120, 40, 3, Device::cuda), 3120);
  expect_same_loss(
      [&](const Variables& x) {
        return mixture_cross_entropy(x[0], log_softmax(x[1]), x[2], {}, some_targets(1300, 40));
      },
      samples({{1300, 6}, {1300, 3}, {40, 2}}, {-1, 1}));
}

// The history, its order and what it holds are the same for both devices; what is the GPU's own is that
// memory goes back to be used again while work that reads it may still wait.
TEST(FunctionsOnGpu, MemoryUsedAgainWhileWorkWaits) {
  NEED_GPU();
  expect_same_on_both(
      [](const Variables& x) {
        Variable y = x[0];
        for (int i = 0; i < 50; ++i) y = tanh(y * x[1]) + embedding(x[2], tokens({i % 5, (i + 1) % 5}));
        return y;
      },
      samples({{2, 30}, {30}, {5, 30}}, {-0.5, 0.5}));
}

// ---- the CTC loss at its limits, by the kernels of tensor/kernels/ctc.h ----

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
