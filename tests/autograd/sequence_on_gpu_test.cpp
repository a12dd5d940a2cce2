// What sequence models are made of, on both devices: attention, and a stack that is stepped from outside.
#include "nn/layers/attention.h"
#include "nn/recurrent/recurrent_stack.h"
#include "tests/cuda/device.h"
#include "tests/nn/parameters.h"

namespace rondo {
namespace {

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
