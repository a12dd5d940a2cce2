// What sequence models are made of, on both devices: the operators of autograd/sequence.h, batches of
// products, layer normalisation, attention, a stack that is stepped from outside. Of the kernels of
// tensor/kernels/kernels.h these cover MaskedSoftmax, MaxOverFirst and NormalizeRows with their backward
// passes, and TransposeFirstTwo.
#include "autograd/sequence.h"

#include "autograd/linear.h"
#include "autograd/normalization.h"
#include "nn/layers/attention.h"
#include "nn/recurrent/recurrent_stack.h"
#include "tests/cuda/device.h"
#include "tests/nn/parameters.h"

namespace rondo {
namespace {

using Variables = std::vector<Variable>;

TEST(SequenceOnGpu, GatherRows) {
  NEED_GPU();
  for (const int64_t W : {1, 5, 257})
    expect_same_on_both(
        [&](const Variables& x) {
          return gather_rows(x[0].slice(1, 4), tokens({5, 0, 5, 2}));
        },
        samples({{4, 2, W}}));
  // Of a part of something that is computed, and read besides.
  expect_same_on_both(
      [](const Variables& x) {
        const Variable y = square(x[0]);
        return gather_rows(y.slice(1, 4).slice_columns(1, 300), tokens({2, 0, 2})) *
               y.slice(0, 3).slice_columns(0, 299);
      },
      samples({{5, 301}}));
}

TEST(SequenceOnGpu, MapRows) {
  NEED_GPU();
  const RowMap map({5, -1, 0, 2}, 6);
  for (const int64_t W : {1, 5, 257})
    expect_same_on_both(
        [&](const Variables& x) {
          const Variable y = map_rows(x[0].slice(1, 4), map);
          return square(y) + map_rows(map_rows(square(y), map.inverse()), map);
        },
        samples({{4, 2, W}}));
}

TEST(SequenceOnGpu, TransposeFirstTwo) {
  NEED_GPU();
  for (const int64_t W : {1, 5, 257, 2000})
    expect_same_on_both(
        [&](const Variables& x) { return square(transpose_first_two(x[0].slice_columns(1, W + 1))); },
        samples({{3, 4, W + 2}}));
  expect_same_on_both([](const Variables& x) { return square(transpose_first_two(x[0])); },
                      samples({{3, 270}}));
  expect_same_on_both(
      [](const Variables& x) { return square(transpose_first_two(x[0].slice_columns(1, 30))); },
      samples({{3, 33}}));
}

TEST(SequenceOnGpu, RepeatAndSumOverFirst) {
  NEED_GPU();
  for (const int64_t W : {1, 5, 257}) {
    expect_same_on_both([](const Variables& x) { return repeat(square(x[0]), 3) * x[1]; },
                        samples({{2, W}, {3, 2, W}}));
    expect_same_on_both([](const Variables& x) { return square(sum_over_first(x[0])); },
                        samples({{140, 2, W}}, {-0.5, 0.5}));
  }
}

TEST(SequenceOnGpu, MaxOverFirst) {
  NEED_GPU();
  for (const int64_t W : {1, 5, 257})
    expect_same_on_both(
        [](const Variables& x) {
          return square(max_over_first(x[0], {4, 1, 2}));
        },
        samples({{4, 3, W}}));
}

TEST(SequenceOnGpu, MaskedSoftmax) {
  NEED_GPU();
  for (const int64_t S : {3, 257, 600}) {
    const Lengths lengths = {S, 0, 1, S - 1};
    expect_same_on_both([&](const Variables& x) { return softmax(x[0], lengths); }, samples({{4, S}}));
    expect_same_on_both([&](const Variables& x) { return softmax(x[0].slice_columns(1, S + 1), lengths); },
                        samples({{4, 2, S + 2}}));
  }
}

TEST(SequenceOnGpu, BatchedMatmul) {
  NEED_GPU();
  for (const auto& [N, M, K, P] :
       {std::array<int64_t, 4>{3, 1, 40, 300}, {2, 5, 1, 7}, {2, 30, 70, 40}, {0, 2, 3, 4}}) {
    SCOPED_TRACE(fmt::format("{} of {}x{}x{}", N, M, P, K));
    expect_same_on_both([](const Variables& x) { return batched_matmul(x[0], x[1]); },
                        samples({{N, M, K}, {N, K, P}}, {-1, 1}));
    expect_same_on_both([](const Variables& x) { return batched_matmul(x[0], x[1], Transpose::yes); },
                        samples({{N, M, K}, {N, P, K}}, {-1, 1}));
  }
  expect_same_on_both(
      [](const Variables& x) {
        const Variable part = x[0].slice_columns(1, 30), scores = batched_matmul(part, part, Transpose::yes);
        return batched_matmul(softmax(scores), part) * part;
      },
      samples({{2, 3, 33}}));
}

TEST(SequenceOnGpu, LayerNorm) {
  NEED_GPU();
  for (const int64_t W : {2, 257, 600})
    expect_same_on_both(
        [&](const Variables& x) { return layer_norm(x[0].slice_columns(1, W + 1), x[1], x[2]); },
        samples({{3, 2, W + 2}, {W}, {W}}));
}

/// An encoder, an attention and a decoder that is stepped, its input the context.
struct Model : Module {
  static constexpr int64_t S = 5, T = 3, B = 4, I = 4, H = 6;

  Model(Score score, Device device)
      : encoder(*this, "encoder", {.cell = "gru", .layers = {pytorch_cell(I, H)}, .bidirectional = true}),
        decoder(*this, "decoder",
                {.cell = "lstm",
                 .layers = {pytorch_cell(2 * H, 2 * H), pytorch_cell(2 * H, 2 * H)},
                 .dropout = 0.3,
                 .variational = true,
                 .regularization = {.dropout = 0.2, .zoneout = 0.3, .weight_drop = 0.2}}),
        attention(*this, "attention", score, 2 * H, 2 * H, 3),
        x(*this, "x", {S, B, I}, uniform_values(1)) {
    finalize(3, 0, device);
    set_training(true);
  }
  std::vector<real> run() {
    begin_update({.seed = 3, .update = 7, .slice = {B, 0, B}});
    const Lengths lengths = {5, 3, 0, 4};
    const Variable states = encoder(x, encoder.initial_states(B), lengths).output;
    const Attention::Source source = attention.prepare(states, lengths);
    std::vector<State> carried = decoder.initial_states(B);
    std::vector<Variable> outputs;
    Variable context(Tensor::filled({B, 2 * H}, real(0.1), device()));
    decoder.begin(B);
    for (int64_t t = 0; t < T; ++t) {
      auto [output, next] = decoder.step(context, carried);
      context = attention(output, source).context;
      outputs.push_back(context);
      carried = next;
    }
    const Variable all = stack(outputs), once_more = attention(all, source).weights;
    const std::vector<real> values = all.value().to_vector();
    (sum(square(all)) + sum(square(once_more))).backward();
    return values;
  }

  RecurrentStack encoder, decoder;
  Attention attention;
  Parameter x;
};

TEST(SequenceOnGpu, AttentionOverAnEncoderInASteppedDecoder) {
  NEED_GPU();
  for (const Score score : {Score::dot, Score::general, Score::additive}) {
    Model on_cpu(score, Device::cpu), on_gpu(score, Device::cuda);
    expect_same(on_gpu.run(), on_cpu.run(), "the contexts");
    for (const Segment& segment : on_cpu.segments())
      expect_same(gradient_of(on_gpu, segment.name), gradient_of(on_cpu, segment.name), segment.name);
  }
}

}  // namespace
}  // namespace rondo
