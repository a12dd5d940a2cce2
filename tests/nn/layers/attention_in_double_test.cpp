// Attention: padding, and what it refuses; its equations, gradients and steps one at a time:
// tests/nn/models/encoder_decoder_in_double_test.cpp and attentive_reader_in_double_test.cpp there. Layer
// normalisation as a module, too, and the gradient check of a model itself.
#include "nn/layers/attention.h"

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "nn/gradient_check.h"
#include "nn/layers/normalization.h"
#include "tests/autograd/samples.h"
#include "tests/nn/parameters.h"
#include "tests/tensor/errors.h"

namespace rondo::attention_test {
namespace {

constexpr int64_t S = 4, B = 3, T = 2, Q = 5, H = 6, A = 3;
const Lengths some_lengths = {4, 0, 2};

/// An attention whose queries and source are parameters, too.
struct Model : Module {
  explicit Model(Score score)
      : source_size(score == Score::dot ? Q : H),
        attention(*this, "attention", score, Q, source_size, A),
        query(*this, "query", {T, B, Q}, uniform_values(1)),
        states(*this, "states", {S, B, source_size}, uniform_values(1)) {
    finalize(3);
  }
  Attention::Result run(const Lengths& lengths) const {
    return attention(query, attention.prepare(states, lengths));
  }

  int64_t source_size;
  Attention attention;
  Parameter query, states;
};

class AttentionBy : public testing::TestWithParam<Score> {};

TEST_P(AttentionBy, ReadsNoPadding) {
  Model model(GetParam());
  const auto gradients = [&] {
    fill(model.gradients(), 0);
    const auto [context, weights] = model.run(some_lengths);
    (sum(square(context)) + sum(square(weights))).backward();
    return model.gradients().to_vector();
  };
  const std::vector<real> before = gradients();
  const Tensor states = value_of(model, "states");
  for (int64_t b = 0; b < B; ++b)
    for (int64_t s = some_lengths[static_cast<size_t>(b)]; s < S; ++s)
      fill(states[s].slice_rows(b, b + 1), real(NAN));
  EXPECT_EQ(gradients(), before);
}

INSTANTIATE_TEST_SUITE_P(Scores, AttentionBy, testing::Values(Score::dot, Score::general, Score::additive),
                         [](const auto& instance) {
                           return instance.param == Score::dot       ? "dot"
                                  : instance.param == Score::general ? "general"
                                                                     : "additive";
                         });

TEST(Attention, ErrorsSayWhatWasExpected) {
  Module root;
  EXPECT_EQ(any_error_of([&] { Attention(root, "a", Score::dot, 4, 5); }),
            "[attention] dot scores need queries as wide as the source's states, got 4 and 5");
  for (const Score score : {Score::dot, Score::general})
    EXPECT_EQ(any_error_of([&] { Attention(root, "a", score, 4, 4, 0, true); }),
              "[attention] only additive scores are batch-normalised");
  const Model model(Score::general);
  const Variable states(Tensor::zeros({S, B, H}));
  const auto source = model.attention.prepare(states);
  const Variable narrow(Tensor::zeros({S, B, Q})), queries(Tensor::zeros({2, Q}));
  const Lengths beyond = {1, 2, 5};
  EXPECT_EQ(any_error_of([&] { model.attention.prepare(narrow); }),
            "[attention] states [S, B, 6] were expected, got [4, 3, 5]");
  EXPECT_EQ(any_error_of([&] { model.attention.prepare(states, beyond); }),
            "[attention] a length from 0 to 4 was expected: 5");
  EXPECT_EQ(any_error_of([&] { model.attention(queries, source); }),
            "[attention] queries [3, 5] or [T, 3, 5] were expected, got [2, 5]");
}

TEST(LayerNormModule, StartsAsTheNormalisationItself) {
  struct Normed : Module {
    Normed() { finalize(1); }
    LayerNorm norm{*this, "norm", 7};
  } model;
  const Variable x(samples({{2, 3, 7}})[0]), ones(Tensor::filled({7}, 1)), zeros(Tensor::zeros({7}));
  EXPECT_EQ(model.norm(x).value().to_vector(), layer_norm(x, ones, zeros).value().to_vector());
  EXPECT_EQ(value_of(model, "norm.weight").to_vector(), ones.value().to_vector());
  EXPECT_EQ(value_of(model, "norm.bias").to_vector(), zeros.value().to_vector());
  const GradientCheck check = check_gradients(model, [&] { return sum(square(model.norm(x))); });
  EXPECT_TRUE(check.passed) << check.worst;
}

TEST(GradientCheckOfAModel, FindsAWrongGradientAndNamesTheParameter) {
  struct Wrong : Module {
    Wrong() { finalize(1); }
    Parameter good{*this, "good", {3, 2}, uniform_values(1)}, bad{*this, "bad", {2}, uniform_values(1)};
    Variable loss() const {
      const Variable y = record("double_gradient", clone(bad.variable().value()), {bad},
                                [](const std::vector<Tensor>& gradients, const Inputs& in) {
                                  in[0].add(gradients[0]);
                                  in[0].add(gradients[0]);
                                });
      return sum(square(good)) + sum(square(y));
    }
  } model;
  const std::vector<real> before = model.values().to_vector();
  const GradientCheck check = check_gradients(model, [&] { return model.loss(); });
  EXPECT_FALSE(check.passed);
  EXPECT_EQ(check.worst.substr(0, 11), "bad element") << check.worst;
  EXPECT_EQ(model.values().to_vector(), before);
  EXPECT_TRUE(check_gradients(model, [&] { return sum(square(model.good)); }).passed);
}

}  // namespace
}  // namespace rondo::attention_test
