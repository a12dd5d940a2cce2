// The whole model as plain loops, from symbols to the loss: its value and its derivatives. With layers before
// the output over an RNN and over deep transitions these are the DO-, DT-, DT(S)-, DOT- and DOT(S)-RNN of
// Pascanu et al. 2013.
#include <gtest/gtest.h>

#include <optional>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tests/nn/models/plain_language_model.h"

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
  struct Output {
    std::vector<int64_t> layers;
    OutputActivation activation;
  };
  for (const auto& [output_layers, activation] : {Output{{}, OutputActivation::tanh},
                                                  {{6, 2}, OutputActivation::tanh},
                                                  {{6, 2}, OutputActivation::identity}}) {
    LanguageModelOptions options;
    options.cell = plain_cells()[GetParam()].first;
    options.embedding = 3;
    options.hidden = {4, 5};
    options.output_layers = output_layers;
    options.output_activation = activation;
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
void expect_plain(const std::function<void(LanguageModelOptions&)>& change) {
  LanguageModelOptions options;
  options.embedding = 3;
  options.hidden = {4, 5, 3};
  change(options);
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
  expect_plain([](LanguageModelOptions& options) { options.embedding = 0; });  // one-hot
  expect_plain([](LanguageModelOptions& options) {
    options.trained_initial_states = true;
    options.init_all = 0.8;  // not 0
  });
  for (const OutputActivation activation : {OutputActivation::tanh, OutputActivation::identity})
    expect_plain([&](LanguageModelOptions& options) {
      options.output_layers = {5, 3};
      options.output_activation = activation;
      options.tied = true;
      options.dropout = 0.3;
    });
}

TEST(Dropouts, EachInItsPlaceEqualPlainLoopsWithTheSameMasks) {
  for (const bool variational : {false, true}) {
    const auto expect = [&](const std::function<void(LanguageModelOptions&)>& change) {
      expect_plain([&](LanguageModelOptions& options) {
        options.variational = variational;
        change(options);
      });
    };
    expect([](LanguageModelOptions& options) { options.dropout = 0.4; });
    expect([](LanguageModelOptions& options) { options.input_dropout = 0.4; });
    expect([](LanguageModelOptions& options) { options.hidden_dropout = 0.4; });
    expect([](LanguageModelOptions& options) { options.output_dropout = 0.4; });
    expect([](LanguageModelOptions& options) {
      options.dropout = 0.5;
      options.hidden_dropout = 0;
    });
    expect([](LanguageModelOptions& options) {
      options.tied = true;  // the output layer sees the whole table
      options.embedding_dropout = 0.4;
      options.input_dropout = 0.2;
      options.hidden_dropout = 0.3;
      options.output_dropout = 0.5;
    });
  }
}

TEST(MixtureOfSoftmaxes, EqualsPlainLoops) {
  expect_plain([](LanguageModelOptions& options) { options.experts = 3; });
  expect_plain([](LanguageModelOptions& options) {
    options.experts = 2;
    options.hidden = {4, 5};
    options.tied = true;
    options.latent_dropout = 0.4;
  });
  expect_plain([](LanguageModelOptions& options) {
    options.experts = 4;
    options.output_layers = {6};
    options.variational = true;
    options.dropout = 0.3;
    options.latent_dropout = 0.5;
  });
}

TEST(AdaptiveSoftmax, InAModelEqualsPlainLoops) {
  const auto adaptive = [](LanguageModelOptions& options, const std::vector<int64_t>& cutoffs) {
    options.output = OutputKind::adaptive;
    options.adaptive = {.cutoffs = cutoffs, .divisor = 2};
  };
  expect_plain([&](LanguageModelOptions& options) { adaptive(options, {3}); });
  expect_plain([&](LanguageModelOptions& options) {
    adaptive(options, {2, 5});
    options.hidden = {4, 5};
    options.variational = true;
    options.dropout = 0.3;
  });
  expect_plain([&](LanguageModelOptions& options) {
    adaptive(options, {1, 3, 5});
    options.output_layers = {8};
  });
}

// "Major-Minor LSTMs for Word-level Language Model"; one layer has no minor cell.
TEST(MajorMinor, EqualsPlainLoops) {
  for (const MinorInput input : {MinorInput::embedding, MinorInput::previous_layer})
    expect_plain([&](LanguageModelOptions& options) {
      options.hidden = {5, 4, 6};
      options.major_ratio = {0.7, 1, 0.6};
      options.minor_input = input;
      options.experts = 2;
      options.tied = true;
      options.variational = true;
      options.embedding_dropout = 0.2;
      options.input_dropout = 0.3;
      options.hidden_dropout = 0.2;
      options.output_dropout = 0.4;
      options.latent_dropout = 0.3;
    });
}

}  // namespace
}  // namespace rondo::language_model_values_test
