// The whole model as plain loops, from symbols to the loss: its value and its derivatives. With layers before
// the output over an RNN and over deep transitions these are the DO-, DT-, DT(S)-, DOT- and DOT(S)-RNN of
// Pascanu et al. 2013.
#include <gtest/gtest.h>

#include <optional>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tests/nn/models/plain_language_model.h"
#include "tests/nn/settings.h"

namespace rondo::language_model_values_test {
namespace {

constexpr int64_t V = 7, T = 5, B = 3;
const std::vector<int32_t> ids = {0, 3, 6, 3, 3, 1, 2, 6, 5, 4, 0, 1, 6, 6, 2},
                           targets = {3, 1, -1, 2, 6, 5, 4, 0, 1, -1, 6, 2, 0, 3, -1};

constexpr uint64_t seed = 5, update = 9;

/// Whether number `index` of a module's draw lets live.
bool alive(const std::string& module, uint32_t draw, double probability, int64_t index) {
  return RandomKey{seed, hash_of(module), draw, update}.bits(index) >= probability * 4294967296.0;
}

/// Dropout on u at step t of stream b; a variational mask is that of step 0.
void drop(Vector& u, const std::string& module, uint32_t draw, double probability, bool variational,
          int64_t t, int64_t b) {
  const int64_t row = variational ? b : t * B + b, width = std::ssize(u);
  for (int64_t j = 0; j < width; ++j)
    u[j] = alive(module, draw, probability, row * width + j) ? u[j] / (1 - probability) : 0.0;
}

Number plain_loss(const LanguageModelOptions& options, const Parameters& parameters, bool training = false) {
  const PlainLanguageModel model(options, parameters);
  Number nats = 0;
  for (int64_t b = 0; b < B; ++b) {
    std::vector<PlainState> states = model.start();
    for (int64_t t = 0; t < T; ++t) {
      const auto dropped = [&](Vector& u, const std::string& module, std::optional<double> rate,
                               uint32_t draw = 0) {
        if (training) drop(u, module, draw, rate.value_or(options.dropout), options.variational, t, b);
      };
      const int32_t id = ids[t * B + b], target = targets[t * B + b];
      Vector x = model.embedding_of(id);
      if (training)
        for (Number& it : x)
          it = alive("embedding_dropout.", 0, options.embedding_dropout, id)
                   ? it / (1 - options.embedding_dropout)
                   : 0.0;
      dropped(x, "input_dropout.", options.input_dropout);
      Vector u = model.read(x, states, [&](Vector& below, size_t layer) {
        dropped(below, "rnn.dropout.", options.hidden_dropout, static_cast<uint32_t>(layer - 1));
      });
      dropped(u, "output_dropout.", options.output_dropout);
      if (target < 0) continue;
      nats -= std::log(model.probability(
          u, target, [&](Vector& latents) { dropped(latents, "mixture.dropout.", options.latent_dropout); }));
    }
  }
  return nats;
}

class LanguageModelValues : public testing::TestWithParam<size_t> {};

TEST_P(LanguageModelValues, AndGradientsEqualThoseOfPlainLoops) {
  for (const std::string layers :
       {"", "output_layers=[6,2]", "output_layers=[6,2] output_activation=identity"}) {
    LanguageModelOptions options;
    set(options, "embedding=3 hidden=[4,5] " + layers);
    options.cell = plain_cells()[GetParam()].first;
    LanguageModel model(options, V, 11);
    const auto output = model.forward({tokens(ids), T, B}, model.initial_states(B)).output;
    expect_plain_loss(model, model.cross_entropy(output, tokens(targets)).total,
                      [&](const Parameters& moved) { return plain_loss(options, moved); });
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelValues, testing::Range(size_t{0}, plain_cells().size()),
                         [](const auto& instance) { return plain_cells()[instance.param].first; });

/// The loss and its gradients of an LSTM in training mode and in evaluation mode: as it is computed in blocks
/// or clusters, and by the logits of all symbols, which of some models are a distribution.
void expect_plain(const std::string& settings, const std::string& cell = "lstm") {
  SCOPED_TRACE(settings);
  LanguageModelOptions options;
  set(options, "embedding=3 hidden=[4,5,3] " + settings);
  options.cell = cell;
  LanguageModel model(options, V, 11);
  for (const bool training : {true, false})
    for (const bool by_logits : {false, true}) {
      SCOPED_TRACE(fmt::format("training: {}, by logits: {}", training, by_logits));
      model.set_training(training);
      model.begin_update({.seed = seed, .update = update, .slice = {B, 0, B}});
      const auto output = model.forward({tokens(ids), T, B}, model.initial_states(B)).output;
      const Variable logits = by_logits ? model.logits(output) : Variable();
      expect_plain_loss(model,
                        by_logits ? sum(cross_entropy(logits, tokens(targets)))
                                  : model.cross_entropy(output, tokens(targets)).total,
                        [&](const Parameters& moved) { return plain_loss(options, moved, training); });
      if (!by_logits || (options.experts == 1 && options.output != OutputKind::adaptive)) continue;
      for (int64_t r = 0; r < T * B; ++r)
        EXPECT_NEAR(sum(exp(logits.slice(r, r + 1))).value().item(), 1, 1e-12);
    }
}

TEST(LanguageModelOptions, InTheirPlacesEqualPlainLoops) {
  expect_plain("embedding=0");                               // one-hot
  expect_plain("trained_initial_states=true init_all=0.8");  // not 0
  for (const std::string activation : {"tanh", "identity"})
    expect_plain("output_layers=[5,3] tied=true dropout=0.3 output_activation=" + activation);
}

TEST(ScalarLstm, OfSeveralHeadsEqualsPlainLoops) { expect_plain("hidden=[4,6] heads=2", "slstm"); }

TEST(ResidualBlocks, EqualPlainLoops) {
  for (const std::string cell : {"lstm", "min_gru"})
    for (const std::string block : {"", "convolution=true", "gate=true", "expansion=1.5",
                                    "convolution=true gate=true expansion=0.5 feed_forward=1.25",
                                    "feed_forward=2 hidden_dropout=0.4"}) {
      SCOPED_TRACE(cell + " " + block);
      expect_plain("embedding=4 hidden=[4,4] block=residual " + block, cell);
    }
}

TEST(Dropouts, EachInItsPlaceEqualPlainLoopsWithTheSameMasks) {
  for (const std::string variational : {"variational=false ", "variational=true "})
    for (const std::string rates :
         {"dropout=0.4", "input_dropout=0.4", "hidden_dropout=0.4", "output_dropout=0.4",
          "dropout=0.5 hidden_dropout=0",
          // The output layer sees the whole table.
          "tied=true embedding_dropout=0.4 input_dropout=0.2 hidden_dropout=0.3 output_dropout=0.5"})
      expect_plain(variational + rates);
}

TEST(MixtureOfSoftmaxes, EqualsPlainLoops) {
  expect_plain("experts=3");
  expect_plain("experts=2 hidden=[4,5] tied=true latent_dropout=0.4");
  expect_plain("experts=4 output_layers=[6] variational=true dropout=0.3 latent_dropout=0.5");
}

TEST(AdaptiveSoftmax, InAModelEqualsPlainLoops) {
  const std::string adaptive = "output=adaptive cluster_divisor=2 ";
  expect_plain(adaptive + "cutoffs=[3]");
  expect_plain(adaptive + "cutoffs=[2,5] hidden=[4,5] variational=true dropout=0.3");
  expect_plain(adaptive + "cutoffs=[1,3,5] output_layers=[8]");
}

// "Major-Minor LSTMs for Word-level Language Model"; one layer has no minor cell.
TEST(MajorMinor, EqualsPlainLoops) {
  for (const std::string input : {"embedding", "previous_layer"})
    expect_plain(
        "hidden=[5,4,6] major_ratio=[0.7,1,0.6] experts=2 tied=true variational=true embedding_dropout=0.2 "
        "input_dropout=0.3 hidden_dropout=0.2 output_dropout=0.4 latent_dropout=0.3 minor_input=" +
        input);
}

}  // namespace
}  // namespace rondo::language_model_values_test
