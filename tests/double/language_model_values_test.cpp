// The whole model as plain loops, from symbols to the loss: its value and its derivatives. With layers before
// the output over an RNN and over deep transitions these are the DO-, DT-, DT(S)-, DOT- and DOT(S)-RNN of
// Pascanu et al. 2013.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "nn/language_model.h"
#include "tests/double/plain_gradients.h"

namespace rondo {
namespace {

constexpr int64_t V = 7, T = 5, B = 3;
const std::vector<int32_t> ids = {0, 3, 6, 3, 3, 1, 2, 6, 5, 4, 0, 1, 6, 6, 2},
                           targets = {3, 1, -1, 2, 6, 5, 4, 0, 1, -1, 6, 2, 0, 3, -1};

/// W u + b.
Vector affine(const Parameters& parameters, const std::string& module, const Vector& u) {
  Vector y = parameters.at(module + ".bias");
  const Vector& W = parameters.at(module + ".weight");
  for (size_t i = 0; i < y.size(); ++i)
    for (size_t j = 0; j < u.size(); ++j) y[i] += W[i * u.size() + j] * u[j];
  return y;
}

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

/// softmax(W u + b)[symbol].
Number probability_of(const Parameters& parameters, const Vector& u, int32_t symbol) {
  const Vector logits = affine(parameters, "decoder", u);
  Number sum = 0;
  for (const Number& logit : logits) sum += std::exp(logit);
  return std::exp(logits[symbol]) / sum;
}

/// Yang et al. 2018.
Number mixed_probability_of(const LanguageModelOptions& options, const Parameters& parameters,
                            const Vector& u, int32_t symbol, bool training, int64_t t, int64_t b) {
  Vector latents = affine(parameters, "mixture.latent", u);
  for (Number& it : latents) it = std::tanh(it);
  if (training) drop(latents, "mixture.dropout.", 0, options.latent_dropout, options.variational, t, b);
  const Vector& W = parameters.at("mixture.prior.weight");
  Number sum = 0, weighted = 0;
  for (int64_t k = 0; k < options.experts; ++k) {
    Number logit = 0;
    for (size_t j = 0; j < u.size(); ++j) logit += W[k * u.size() + j] * u[j];
    const auto begin = latents.begin() + k * options.embedding;
    sum += std::exp(logit);
    weighted += std::exp(logit) * probability_of(parameters, {begin, begin + options.embedding}, symbol);
  }
  return weighted / sum;
}

Number plain_loss(const LanguageModelOptions& options, const PlainCell& cell, Parameters parameters,
                  bool has_memory, bool training = false) {
  if (options.tied) parameters["decoder.weight"] = parameters.at("embedding.weight");
  Number nats = 0;
  for (int64_t b = 0; b < B; ++b) {
    std::vector<PlainState> states;
    for (const int64_t H : options.hidden) states.push_back({Vector(H), has_memory ? Vector(H) : Vector()});
    for (int64_t t = 0; t < T; ++t) {
      const auto dropped = [&](Vector& u, const std::string& module, std::optional<double> rate,
                               uint32_t draw = 0) {
        if (training) drop(u, module, draw, rate.value_or(options.dropout), options.variational, t, b);
      };
      const int32_t id = ids[t * B + b], target = targets[t * B + b];
      const auto row = parameters.at("embedding.weight").begin() + id * options.embedding;
      Vector u(row, row + options.embedding);
      if (training)
        for (Number& it : u)
          it = alive("embedding_dropout.", 0, options.embedding_dropout, id)
                   ? it / (1 - options.embedding_dropout)
                   : 0.0;
      dropped(u, "input_dropout.", options.input_dropout);
      for (size_t i = 0; i < options.hidden.size(); ++i) {
        if (i > 0) dropped(u, "rnn.dropout.", options.hidden_dropout, static_cast<uint32_t>(i - 1));
        const std::string suffix = "_l" + std::to_string(i);
        PlainLayer layer{std::ssize(u), options.hidden[i], {}};
        for (const auto& [name, values] : parameters)
          if (name.starts_with("rnn.") && name.ends_with(suffix))
            layer.named[name.substr(4, name.size() - 4 - suffix.size())] = values;
        states[i] = cell(layer, u, states[i].h, states[i].c, states[i].h);
        u = states[i].h;
      }
      dropped(u, "output_dropout.", options.output_dropout);
      for (size_t i = 0; i < options.output_layers.size(); ++i) {
        u = affine(parameters, "output_layer_" + std::to_string(i), u);
        for (Number& it : u) it = std::tanh(it);
      }
      if (target < 0) continue;
      nats -= std::log(options.experts == 1
                           ? probability_of(parameters, u, target)
                           : mixed_probability_of(options, parameters, u, target, training, t, b));
    }
  }
  return nats;
}

class LanguageModelValues : public testing::TestWithParam<size_t> {};

TEST_P(LanguageModelValues, AndGradientsEqualThoseOfPlainLoops) {
  const auto& [name, cell] = plain_cells()[GetParam()];
  for (const std::vector<int64_t>& output_layers : {std::vector<int64_t>{}, {6, 2}}) {
    LanguageModelOptions options;
    options.cell = name;
    options.embedding = 3;
    options.hidden = {4, 5};
    options.output_layers = output_layers;
    LanguageModel model(options, V, 11);
    const std::vector<State> start = model.initial_states(B);
    const Variable loss =
        model.cross_entropy(model.forward({tokens(ids), T, B}, start).output, tokens(targets)).total;
    const Parameters parameters = parameters_of(model);
    const bool has_memory = start[0].c.defined();
    EXPECT_NEAR(loss.value().item(), plain_loss(options, cell, parameters, has_memory).real(), 1e-12);
    loss.backward();
    expect_plain_gradients(
        model, [&](const Parameters& moved) { return plain_loss(options, cell, moved, has_memory); });
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelValues, testing::Range(size_t{0}, plain_cells().size()),
                         [](const auto& instance) { return plain_cells()[instance.param].first; });

/// The loss and its gradients of an LSTM in training mode, and both in evaluation mode.
void expect_plain(const std::function<void(LanguageModelOptions&)>& change) {
  LanguageModelOptions options;
  options.embedding = 3;
  options.hidden = {4, 5, 3};
  change(options);
  LanguageModel model(options, V, 11);
  const auto lstm = std::find_if(plain_cells().begin(), plain_cells().end(),
                                 [](const auto& it) { return it.first == "lstm"; });
  for (const bool training : {true, false}) {
    SCOPED_TRACE(training);
    model.set_training(training);
    model.begin_update({.seed = seed, .update = update, .slice = {B, 0, B}});
    const Variable loss =
        model
            .cross_entropy(model.forward({tokens(ids), T, B}, model.initial_states(B)).output,
                           tokens(targets))
            .total;
    const auto plain = [&](const Parameters& parameters) {
      return plain_loss(options, lstm->second, parameters, true, training);
    };
    EXPECT_NEAR(loss.value().item(), plain(parameters_of(model)).real(), 1e-10);
    fill(model.gradients(), 0);
    loss.backward();
    expect_plain_gradients(model, plain);
  }
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

}  // namespace
}  // namespace rondo
