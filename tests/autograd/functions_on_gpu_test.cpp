// Every function on Variables that is not pointwise, on both devices. Of the kernels of
// tensor/kernels/kernels.h these cover Drop, ScaleRows, GatherRows, AccumulateRows, OneHot,
// MixtureLoss and CrossEntropyInPlace; Moments, Softmax, LogSoftmax and LogitsCrossEntropy with their
// backward passes. tests/tensor/tensors_on_gpu_test.cpp covers Fill, Copy, Accumulate, Scale, ColumnSums and
// PartialSums, masks_on_gpu_test.cpp there DropoutMask.
#include "autograd/cross_entropy.h"
#include "autograd/linear.h"
#include "autograd/normalization.h"
#include "nn/regularization.h"
#include "tests/cuda/device.h"

namespace rondo {
namespace {

using Variables = std::vector<Variable>;

/// Targets of `count` rows, every fifth of them ignored.
Tokens some_targets(int64_t count, int64_t V) {
  std::vector<int32_t> ids;
  for (int64_t r = 0; r < count; ++r) ids.push_back(static_cast<int32_t>(r % 5 == 3 ? -1 : r * 7919 % V));
  return tokens(ids);
}

TEST(FunctionsOnGpu, Embedding) {
  NEED_GPU();
  const auto ids = tokens({3, 0, 3, 3, 299, 1, 3, 299});
  for (const int64_t E : {1, 5, 257, 600})
    expect_same_on_both([&](const Variables& x) { return embedding(x[0], ids); }, samples({{300, E}}));
  // Used twice, and as output weight.
  expect_same_on_both(
      [&](const Variables& x) {
        return linear(tanh(embedding(x[0], ids) * embedding(x[0], tokens({0, 0, 1, 2, 3, 4, 5, 6}))), x[0]);
      },
      samples({{300, 7}}));
  // So many pairs that they are not kept until the end.
  std::vector<int32_t> many;
  for (int i = 0; i < 3000; ++i) many.push_back(i * 31 % 17);
  expect_same_on_both([&](const Variables& x) { return tanh(embedding(x[0], tokens(many))); },
                      samples({{17, 3}}));
  expect_same_on_both([](const Variables& x) { return embedding(x[0], tokens({})); }, samples({{4, 3}}));
  EXPECT_THROW(embedding(Variable(Tensor::zeros({4, 3}, Device::cuda)), tokens({4})), Error);
}

TEST(FunctionsOnGpu, OneHot) {
  NEED_GPU();
  const auto ids = tokens({3, 0, 299, 3});
  expect_same(one_hot(ids, 300, Device::cuda).value(), one_hot(ids, 300).value(), "one_hot");
}

TEST(FunctionsOnGpu, ConcatStackAndReshape) {
  NEED_GPU();
  expect_same_on_both(
      [](const Variables& x) {
        return square(concat({x[0], x[1], x[0]}));
      },
      samples({{3, 2}, {3, 300}}));
  expect_same_on_both(
      [](const Variables& x) {
        return square(stack({x[0], x[1], x[0]}));
      },
      samples({{3, 300}, {3, 300}}));
  expect_same_on_both(
      [](const Variables& x) {
        return square(reshape(x[0], {2, 30, 5})) * x[1];
      },
      samples({{3, 100}, {5}}));
  expect_same_on_both([](const Variables& x) { return square(reshape(x[0].slice_columns(1, 101), {300})); },
                      samples({{3, 102}}));
}

TEST(FunctionsOnGpu, SlicesOfSlices) {
  NEED_GPU();
  expect_same_on_both(
      [](const Variables& x) {
        const Variable inner = x[0].slice(1, 4).slice_columns(1, 300).slice(1, 3).slice_columns(1, 299);
        return square(inner) + inner[0] + x[0][2].slice(1, 301).slice(1, 299);
      },
      samples({{5, 302}}));
  // Regions that cover the parent only in part, in an order in which the second cuts the first.
  expect_same_on_both(
      [](const Variables& x) {
        const Variable y = x[0] * x[0];
        return y.slice(1, 3) * y.slice(2, 4) + tanh(y.slice(0, 2)) + exp(y.slice(2, 4)) * y.slice(1, 3);
      },
      samples({{5, 3}}));
  expect_same_on_both(
      [](const Variables& x) {
        const Variable all = tanh(x[0]);
        const Variable a = all.slice_columns(0, 30).as_part(), b = all.slice_columns(30, 60).as_part();
        return sigmoid(a) * (a * b);
      },
      samples({{4, 60}}));
}

TEST(FunctionsOnGpu, ScaleRows) {
  NEED_GPU();
  const Tensor factors = Tensor::from({2, 0, real(-0.5)}, {3});
  for (const int64_t columns : {2, 300})
    expect_same_on_both(
        [&](const Variables& x) {
          const Variable block = x[0].slice_columns(1, columns);
          return scale_rows(block, factors.to(block.value().device()));
        },
        samples({{3, columns + 1}}));
}

TEST(FunctionsOnGpu, SumAndMean) {
  NEED_GPU();
  for (const Shape& shape : awkward_shapes)
    expect_same_on_both([](const Variables& x) { return square(sum(x[0])); }, samples({shape}));
  expect_same_on_both(
      [](const Variables& x) { return mean(x[0].slice_columns(1, 90) * x[0].slice_columns(0, 89)); },
      samples({{101, 91}}));
}

TEST(FunctionsOnGpu, SoftmaxAndItsLogarithm) {
  NEED_GPU();
  for (const Shape& shape : awkward_shapes) {
    if (shape.columns() == 0) continue;  // there is no softmax of nothing
    SCOPED_TRACE(fmt::format("{}", shape));
    expect_same_on_both([](const Variables& x) { return softmax(x[0]); }, samples({shape}));
    expect_same_on_both([](const Variables& x) { return log_softmax(x[0]); }, samples({shape}));
  }
  const auto of_block = samples({{3, 302}}, {-80, 80});  // of which many exp() are 0 in float
  expect_same_on_both([](const Variables& x) { return softmax(x[0].slice_columns(1, 301)); }, of_block);
  expect_same_on_both([](const Variables& x) { return log_softmax(x[0].slice_columns(1, 301)); }, of_block);
}

TEST(FunctionsOnGpu, NegativeLogLikelihood) {
  NEED_GPU();
  for (const int64_t V : {1, 21, 257, 1000}) {
    const auto targets = some_targets(7, V);
    expect_same_on_both([&](const Variables& x) { return cross_entropy(x[0], targets); }, samples({{7, V}}));
    expect_same_on_both(
        [&](const Variables& x) { return cross_entropy(x[0].slice_columns(1, V + 1) * x[1], targets); },
        samples({{7, V + 2}, {V}}));
  }
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
    expect_same_loss(
        [&](const Variables& x) { return linear_cross_entropy(x[0], x[1], x[2], targets, x[3]); },
        samples({{N, H}, {V, H}, {V}, {N}}, {-1, 1}));
    expect_same_loss(
        [&](const Variables& x) { return linear_cross_entropy(x[0], x[1], x[2], targets, x[3], 0.3); },
        samples({{N, H}, {V, H}, {V}, {N}}, {-1, 1}));
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
  ASSERT_LT(cross_entropy_block_rows(3120, 40, 3, Device::cuda), 3120);
  expect_same_loss(
      [&](const Variables& x) {
        return mixture_cross_entropy(x[0], log_softmax(x[1]), x[2], {}, some_targets(1300, 40));
      },
      samples({{1300, 6}, {1300, 3}, {40, 2}}, {-1, 1}));
}

TEST(FunctionsOnGpu, BatchNorm) {
  NEED_GPU();
  for (const int64_t columns : {3, 257, 600}) {
    const auto normalized = [](const Variables& x) {
      return batch_normalization(x[0], column_moments(x[0]), x[1], x[2]);
    };
    expect_same_on_both(normalized, samples({{7, columns}, {columns}, {columns}}));
    expect_same_on_both(normalized, samples({{7, columns}, {columns}, {7, columns}}));
    // One of the statistics alone, of a block of columns.
    expect_same_on_both(
        [&](const Variables& x) { return column_moments(x[0].slice_columns(1, columns + 1)).mean; },
        samples({{7, columns + 2}}));
    expect_same_on_both([](const Variables& x) { return column_moments(x[0] * x[0]).variance; },
                        samples({{7, columns}}));
  }
}

TEST(FunctionsOnGpu, Dropout) {
  NEED_GPU();
  for (const double probability : {0.0, 0.4})
    expect_same_on_both(
        [&](const Variables& x) {
          return dropout(square(x[0]), probability, {.seed = 3}, {.batch = 2, .first = 1, .whole = 5});
        },
        samples({{4, 300}}));
  // Of an odd width, whose gradient is added to another.
  expect_same_on_both([](const Variables& x) { return x[0] * x[0] + dropout(x[0], 0.4, {.seed = 3}, {}); },
                      samples({{5, 301}}));
}

TEST(FunctionsOnGpu, Regularization) {
  NEED_GPU();
  expect_same_on_both(
      [](const Variables& x) {
        const Variable y = tanh(x[0]);
        return activation_regularization(y) * real(2) + temporal_regularization(y);
      },
      samples({{5, 3, 101}}));
  expect_same_on_both([](const Variables& x) { return temporal_regularization(x[0]) + sum(x[0]); },
                      samples({{1, 3, 5}}));
}

TEST(FunctionsOnGpu, Linear) {
  NEED_GPU();
  expect_same_on_both([](const Variables& x) { return linear(x[0], x[1]); }, samples({{3, 40}, {300, 40}}));
  expect_same_on_both(
      [](const Variables& x) {
        return linear(x[0], x[1], {x[2], x[3], x[2]});
      },
      samples({{2, 3, 4}, {5, 4}, {5}, {5}}));
  expect_same_on_both([](const Variables& x) { return linear(x[0], x[0], {x[1]}); }, samples({{3, 4}, {3}}));
  expect_same_on_both([](const Variables& x) { return linear(x[0], x[1], {x[2]}); },
                      samples({{0, 4}, {5, 4}, {5}}));
  expect_same_on_both([](const Variables& x) { return matmul(x[0], x[1]); }, samples({{30, 4}, {4, 50}}));
  expect_same_on_both([](const Variables& x) { return per_row_matmul(x[0], x[1]); },
                      samples({{3, 80}, {3, 4}}));
  expect_same_on_both(
      [](const Variables& x) {
        return per_row_matmul(tanh(x[0]), x[0].slice_columns(2, 6)) * x[0].slice_columns(1, 3);
      },
      samples({{3, 8}}));
}

TEST(FunctionsOnGpu, AddLinear) {
  NEED_GPU();
  expect_same_on_both([](const Variables& x) { return add_linear(x[0], x[1], x[2]); },
                      samples({{3, 50}, {3, 40}, {50, 40}}));
  expect_same_on_both(
      [](const Variables& x) {
        return add_linear(x[0].slice_columns(1, 51), x[1].slice_columns(1, 41), x[2].slice_columns(2, 42));
      },
      samples({{3, 52}, {3, 42}, {50, 42}}));
  // In the memory of z, and beside it.
  expect_same_on_both([](const Variables& x) { return square(add_linear(tanh(x[0]) * x[0], x[1], x[2])); },
                      samples({{3, 5}, {3, 4}, {5, 4}}));
  expect_same_on_both(
      [](const Variables& x) {
        Variable z = tanh(x[0]);
        const Variable held = z;
        return square(add_linear(std::move(z), x[1], x[2])) * held;
      },
      samples({{3, 5}, {3, 4}, {5, 4}}));
}

TEST(FunctionsOnGpu, AWeightUsedAtEveryStep) {
  NEED_GPU();
  const auto recurrence = [](Variable h, const Variable& input, const Variable& weight) {
    for (int t = 0; t < 6; ++t)
      h = tanh(add_linear(input[t] * real(0.5), h, weight.slice(0, 20))) +
          tanh(linear(h, weight.slice(20, 40)));
    return h;
  };
  expect_same_on_both([&](const Variables& x) { return recurrence(x[0], x[1], x[2]); },
                      samples({{3, 20}, {6, 3, 20}, {40, 20}}, {-0.3, 0.3}));
  // So many rows that some pairs are multiplied at once, others later.
  expect_same_on_both(
      [](const Variables& x) {
        const Variable both = reshape(concat({x[0], x[0]}), {600, 2});
        return mean(tanh(linear(both, x[1]))) + mean(tanh(linear(x[0], x[1])));
      },
      samples({{300, 2}, {2, 2}}, {-0.5, 0.5}));
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

}  // namespace
}  // namespace rondo
