// Encoder-decoders on both devices: losses, attention and gradients of a batch with padding, and steps over
// chosen rows, as beam search takes them.
#include "nn/models/encoder_decoder.h"

#include "tests/cuda/device.h"

namespace rondo {
namespace {

struct Twin {
  static constexpr int64_t B = 4, S = 6, T = 5, V = 23;
  Twin(const EncoderDecoderOptions& options, Device device) : model(options, V, V, 11, device) {}

  static std::vector<int32_t> ids(int64_t steps, int64_t factor) {
    std::vector<int32_t> result;
    for (int64_t i = 0; i < steps * B; ++i) result.push_back(static_cast<int32_t>((i * i + factor * i) % V));
    return result;
  }
  EncoderDecoder::Source source() { return model.encode({tokens(ids(S, 3)), S, B, {6, 1, 4, 3}}); }

  /// A batch of training: its losses, attention and gradients.
  void train(bool told) {
    model.set_training(true);
    fill(model.gradients(), 0);
    model.begin_update({.seed = 3, .update = 5, .slice = {B, 0, B}});
    const Lengths lengths = told ? Lengths{5, 3, 4, 1} : Lengths{};
    auto output = model.decode({tokens(ids(T, 7)), T, B, lengths}, source());
    std::vector<int32_t> targets = ids(T, 2);
    for (size_t b = 0; b < B; ++b)
      for (size_t t = b + 2; t < T; ++t) targets[t * B + b] = -1;
    const CrossEntropy loss = model.cross_entropy(output.readout, tokens(targets), 0.1);
    total = {loss.total.value().item()};
    each = loss.each;
    attention = output.attention.defined() ? output.attention.value() : Tensor();
    output = {};
    loss.total.backward();
  }

  /// Two steps, with two hypotheses of two sentences in the second one.
  void decode() {
    const NoGradient guard;
    model.set_training(false);
    const EncoderDecoder::Source some = model.select(source(), {0, 2});
    model.begin_steps(2);
    auto [first, position] = model.step(tokens({0, 0}), model.first_position(some), some);
    position = model.select(position, {0, 1, 0, 1});
    model.begin_steps(4);
    logits = model.logits(model.step(tokens({3, 1, 4, 2}), position, some).output.readout).value();
  }

  EncoderDecoder model;
  std::vector<real> total{};
  Tensor each{}, attention{}, logits{};
};

void expect_same_on_both(const EncoderDecoderOptions& options) {
  Twin on_cpu(options, Device::cpu), on_gpu(options, Device::cuda);
  EXPECT_EQ(on_gpu.model.values().to_vector(), on_cpu.model.values().to_vector()) << "initial values";
  for (const bool told : {false, true}) {
    on_cpu.train(told), on_gpu.train(told);
    expect_same(on_gpu.total, on_cpu.total, "the loss");
    expect_same(on_gpu.each, on_cpu.each, "the loss of each symbol");
    if (on_cpu.attention.defined()) expect_same(on_gpu.attention, on_cpu.attention, "the attention");
    for (const Segment& segment : on_cpu.model.segments())
      expect_same(part_of(on_gpu.model.gradients(), segment), part_of(on_cpu.model.gradients(), segment),
                  "the gradient of " + segment.name);
  }
  on_cpu.decode(), on_gpu.decode();
  expect_same(on_gpu.logits, on_cpu.logits, "the logits of chosen rows");
}

class EncoderDecoderOnGpu : public testing::TestWithParam<Score> {
 protected:
  EncoderDecoderOptions options() const {
    EncoderDecoderOptions it;
    it.embedding = it.readout = 6;
    it.hidden = 8;
    it.attention = GetParam();
    it.dropout = 0.3;
    return it;
  }
};

TEST_P(EncoderDecoderOnGpu, OfEachCell) {
  NEED_GPU();
  for (const std::string cell : {"lstm", "gru", "mi_lstm", "mlstm"}) {
    SCOPED_TRACE(cell);
    EncoderDecoderOptions it = options();
    it.cell = cell;
    expect_same_on_both(it);
  }
}

TEST_P(EncoderDecoderOnGpu, WithInputFeedingTiedTablesAndMoreLayers) {
  NEED_GPU();
  EncoderDecoderOptions it = options();
  it.input_feeding = GetParam() != Score::none;
  it.tied = TiedTables::all;
  it.encoder_layers = 2;
  it.decoder_layers = 3;
  it.variational = true;
  it.regularization.weight_drop = 0.3;
  expect_same_on_both(it);
  it.bidirectional = false;
  it.bridge = Bridge::copy;
  expect_same_on_both(it);
}

INSTANTIATE_TEST_SUITE_P(Attention, EncoderDecoderOnGpu,
                         testing::Values(Score::none, Score::dot, Score::general, Score::additive),
                         [](const auto& instance) { return name_of(instance.param); });

}  // namespace
}  // namespace rondo
