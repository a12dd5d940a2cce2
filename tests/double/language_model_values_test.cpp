// The whole model as plain loops, from symbols to the loss: its value and its derivatives. With layers before
// the output over an RNN and over deep transitions these are the DO-, DT-, DT(S)-, DOT- and DOT(S)-RNN of
// Pascanu et al. 2013.
#include <gtest/gtest.h>

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

Number plain_loss(const LanguageModelOptions& options, const PlainCell& cell, const Parameters& parameters,
                  bool has_memory) {
  Number nats = 0;
  for (int64_t b = 0; b < B; ++b) {
    std::vector<PlainState> states;
    for (const int64_t H : options.hidden) states.push_back({Vector(H), has_memory ? Vector(H) : Vector()});
    for (int64_t t = 0; t < T; ++t) {
      const int32_t id = ids[t * B + b], target = targets[t * B + b];
      const auto row = parameters.at("embedding.weight").begin() + id * options.embedding;
      Vector u(row, row + options.embedding);
      for (size_t i = 0; i < options.hidden.size(); ++i) {
        const std::string suffix = "_l" + std::to_string(i);
        PlainLayer layer{std::ssize(u), options.hidden[i], {}};
        for (const auto& [name, values] : parameters)
          if (name.starts_with("rnn.") && name.ends_with(suffix))
            layer.named[name.substr(4, name.size() - 4 - suffix.size())] = values;
        states[i] = cell(layer, u, states[i].h, states[i].c, states[i].h);
        u = states[i].h;
      }
      for (size_t i = 0; i < options.output_layers.size(); ++i) {
        u = affine(parameters, "output_layer_" + std::to_string(i), u);
        for (Number& it : u) it = std::tanh(it);
      }
      if (target < 0) continue;
      const Vector logits = affine(parameters, "decoder", u);
      Number sum = 0;
      for (const Number& logit : logits) sum += std::exp(logit);
      nats += std::log(sum) - logits[target];
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

}  // namespace
}  // namespace rondo
