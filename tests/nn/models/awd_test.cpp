// AWD-LSTM, its mixture of softmaxes and Major-Minor layers at the sizes of the papers: parameters to the
// unit, and the memory of the mixture's loss.
#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "nn/models/language_model.h"
#include "tensor/allocator.h"

namespace rondo {
namespace {

int64_t parameters(int64_t V, int64_t embedding, std::vector<int64_t> hidden, int64_t experts = 1,
                   std::vector<double> major_ratio = {1}) {
  LanguageModelOptions options;
  options.embedding = embedding;
  options.hidden = std::move(hidden);
  options.experts = experts;
  options.major_ratio = std::move(major_ratio);
  options.tied = true;
  return LanguageModel(options, V, 1, Device::meta).parameter_count();
}

constexpr int64_t ptb = 10000, wt2 = 33278;

TEST(Parameters, OfAwdLstm) {
  EXPECT_EQ(parameters(ptb, 400, {1150, 1150, 400}), 24'221'600);
  EXPECT_EQ(parameters(wt2, 400, {1150, 1150, 400}), 33'556'078);
  EXPECT_EQ(parameters(50, 200, {1000, 1000, 200}), 13'787'650);
  EXPECT_EQ(parameters(205, 400, {1840, 1840, 400}), 47'270'045);
}

TEST(Parameters, OfAwdLstmMos) {
  EXPECT_EQ(parameters(ptb, 280, {960, 960, 620}, 15), 21'500'620);
  EXPECT_EQ(parameters(wt2, 300, {1150, 1150, 650}, 15), 34'909'528);
}

/// An LSTM with two biases a gate.
constexpr int64_t lstm(int64_t input, int64_t units) { return 4 * units * (input + units + 2); }
/// Table of the embedding, tied; the bias of the output; the prior; the latents and their bias.
constexpr int64_t around(int64_t V, int64_t E, int64_t last, int64_t K) {
  return V * E + V + K * last + K * E * (last + 1);
}

// "Major-Minor LSTMs for Word-level Language Model", Tables 1, 3 and 4: 21.3M and 32.3M.
TEST(Parameters, OfAwdMmlstmMos) {
  const std::vector<double> ratios = {0.9, 0.9, 0.6};
  // 1080 = 972 + 108 twice, 620 = 372 + 248; a major LSTM reads the layer before, a minor one the embedding.
  constexpr int64_t on_ptb = lstm(280, 972) + lstm(280, 108) + lstm(1080, 972) + lstm(280, 108) +
                             lstm(1080, 372) + lstm(280, 248) + around(ptb, 280, 620, 15);
  EXPECT_EQ(on_ptb, 21'315'276);
  EXPECT_EQ(parameters(ptb, 280, {1080, 1080, 620}, 15, ratios), on_ptb);
  // 1200 = 1080 + 120 twice, 650 = 390 + 260.
  constexpr int64_t on_wt2 = lstm(300, 1080) + lstm(300, 120) + lstm(1200, 1080) + lstm(300, 120) +
                             lstm(1200, 390) + lstm(300, 260) + around(wt2, 300, 650, 15);
  EXPECT_EQ(on_wt2, 32'257'528);
  EXPECT_EQ(parameters(wt2, 300, {1200, 1200, 650}, 15, ratios), on_wt2);
}

// 12 streams of 70 steps, 15 experts, 10,000 words: all logits at once would be 504 MB.
TEST(Memory, OfAMixturesLossIsAQuarterOfItsLogitsAtMost) {
  const int64_t N = 12 * 70, K = 15, V = 10000, E = 280;
  const auto leaf = [](Shape shape) {
    return Variable::leaf(Tensor::filled(shape, real(0.01)), Tensor::zeros(shape));
  };
  const Variable x = leaf({N, K * E}), log_prior = leaf({N, K}), weight = leaf({V, E}), bias = leaf({V});
  const size_t before = memory_statistics(Device::cpu).bytes_in_use;
  reset_peak_bytes(Device::cpu);
  mixture_cross_entropy(x, log_prior, weight, bias, tokens(std::vector<int32_t>(N, 7))).total.backward();
  const size_t peak = memory_statistics(Device::cpu).peak_bytes - before;
  EXPECT_GT(peak, static_cast<size_t>(N * K * E) * sizeof(real)) << "the gradient of x";
  EXPECT_LE(peak, static_cast<size_t>(N * K * V) * sizeof(real) / 4);
}

}  // namespace
}  // namespace rondo
