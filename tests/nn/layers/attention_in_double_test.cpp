// Attention: values against plain loops written from the papers' equations, gradients of all its parameters,
// of queries and of the source, padding, and what it refuses. Layer normalisation as a module, too, and the
// gradient check of a model itself.
#include "nn/layers/attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

/// A parameter by its index, of two or three dimensions.
struct Plain {
  Plain(const Model& model, const std::string& name)
      : shape(value_of(model, name).shape()), values(value_of(model, name).to_vector()) {}
  double operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * shape[1] + j)]; }
  double operator()(int64_t i, int64_t j, int64_t k) const {
    return values[static_cast<size_t>((i * shape[1] + j) * shape[2] + k)];
  }
  Shape shape;
  std::vector<real> values;
};

/// How well state s fits query t of row b.
double plain_score(const Model& model, Score score, int64_t t, int64_t b, int64_t s) {
  const Plain query(model, "query"), states(model, "states");
  const int64_t width = model.source_size;
  double sum = 0;
  if (score == Score::dot)
    for (int64_t i = 0; i < Q; ++i) sum += query(t, b, i) * states(s, b, i);
  if (score == Score::general) {
    const Plain W_a(model, "attention.W_a");
    for (int64_t i = 0; i < Q; ++i)
      for (int64_t j = 0; j < width; ++j) sum += query(t, b, i) * W_a(i, j) * states(s, b, j);
  }
  if (score == Score::additive) {
    const Plain W_a(model, "attention.W_a"), U_a(model, "attention.U_a"), v_a(model, "attention.v_a");
    for (int64_t a = 0; a < A; ++a) {
      double inner = 0;
      for (int64_t i = 0; i < Q; ++i) inner += W_a(a, i) * query(t, b, i);
      for (int64_t j = 0; j < width; ++j) inner += U_a(a, j) * states(s, b, j);
      sum += v_a(0, a) * std::tanh(inner);
    }
  }
  return sum;
}

class AttentionBy : public testing::TestWithParam<Score> {};

TEST_P(AttentionBy, IsThePapersEquations) {
  const Model model(GetParam());
  const Plain states(model, "states");
  for (const Lengths& lengths : {Lengths{}, some_lengths}) {
    const Attention::Result result = model.run(lengths);
    ASSERT_EQ(result.weights.shape(), (Shape{T, B, S}));
    ASSERT_EQ(result.context.shape(), (Shape{T, B, model.source_size}));
    const std::vector<real> weights = result.weights.value().to_vector(),
                            context = result.context.value().to_vector();
    for (int64_t t = 0; t < T; ++t)
      for (int64_t b = 0; b < B; ++b) {
        const int64_t length = lengths.empty() ? S : lengths[static_cast<size_t>(b)];
        double total = 0;
        for (int64_t s = 0; s < length; ++s) total += std::exp(plain_score(model, GetParam(), t, b, s));
        std::vector<double> mean(static_cast<size_t>(model.source_size));
        for (int64_t s = 0; s < S; ++s) {
          const double expected = s < length ? std::exp(plain_score(model, GetParam(), t, b, s)) / total : 0;
          const real weight = weights[static_cast<size_t>((t * B + b) * S + s)];
          EXPECT_NEAR(weight, expected, 1e-12);
          EXPECT_TRUE(s < length || weight == 0) << weight;
          for (int64_t j = 0; j < model.source_size; ++j)
            mean[static_cast<size_t>(j)] += expected * states(s, b, j);
        }
        for (int64_t j = 0; j < model.source_size; ++j)
          EXPECT_NEAR(context[static_cast<size_t>((t * B + b) * model.source_size + j)],
                      mean[static_cast<size_t>(j)], 1e-12);
      }
  }
}

TEST_P(AttentionBy, HasTheGradientsOfAllThatItReads) {
  Model model(GetParam());
  for (const Lengths& lengths : {Lengths{}, some_lengths}) {
    const GradientCheck check = check_gradients(model, [&] {
      const auto [context, weights] = model.run(lengths);
      return sum(square(context)) + sum(square(weights));
    });
    EXPECT_TRUE(check.passed) << check.worst;
    EXPECT_LT(check.largest_error, 1e-6);
  }
}

// A decoder's steps one at a time, over one source.
TEST_P(AttentionBy, GivesOneStepWhatItGivesMany) {
  Model model(GetParam());
  const Attention::Result all = model.run(some_lengths);
  const Attention::Source source = model.attention.prepare(model.states, some_lengths);
  const auto step = [&](int64_t t) { return model.attention(model.query.variable()[t], source); };
  for (int64_t t = 0; t < T; ++t) {
    EXPECT_EQ(step(t).context.shape(), (Shape{B, model.source_size}));
    EXPECT_EQ(step(t).weights.shape(), (Shape{B, S}));
    const std::vector<real> context = step(t).context.value().to_vector(),
                            expected = all.context.value()[t].to_vector();
    for (size_t i = 0; i < context.size(); ++i) EXPECT_NEAR(context[i], expected[i], 1e-12);
  }
  const GradientCheck check = check_gradients(model, [&] {
    const Attention::Source again = model.attention.prepare(model.states, some_lengths);
    const Variable first = model.attention(model.query.variable()[0], again).context;
    return sum(square(first)) + sum(model.attention(model.query.variable()[1], again).context * first);
  });
  EXPECT_TRUE(check.passed) << check.worst;
}

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
  EXPECT_EQ(any_error_of([&] {
              model.attention.prepare(Variable(Tensor::zeros({S, B, Q})));
            }),
            "[attention] states [S, B, 6] were expected, got [4, 3, 5]");
  EXPECT_EQ(any_error_of([&] {
              model.attention.prepare(states, {1, 2, 5});
            }),
            "[attention] a length from 0 to 4 was expected: 5");
  EXPECT_EQ(any_error_of([&] {
              model.attention(Variable(Tensor::zeros({2, Q})), source);
            }),
            "[attention] queries [3, 5] or [T, 3, 5] were expected, got [2, 5]");
}

TEST(LayerNormModule, StartsAsTheNormalisationItself) {
  struct Normed : Module {
    Normed() { finalize(1); }
    LayerNorm norm{*this, "norm", 7};
  } model;
  const auto x = samples({{2, 3, 7}});
  const std::vector<real> y = model.norm(Variable(x[0])).value().to_vector();
  for (int64_t r = 0; r < 6; ++r) {
    double mean = 0, square_mean = 0;
    for (int64_t j = 0; j < 7; ++j) {
      mean += y[static_cast<size_t>(r * 7 + j)] / 7;
      square_mean += y[static_cast<size_t>(r * 7 + j)] * y[static_cast<size_t>(r * 7 + j)] / 7;
    }
    EXPECT_NEAR(mean, 0, 1e-12);
    EXPECT_NEAR(square_mean, 1, 1e-4);  // but for epsilon
  }
  EXPECT_TRUE(has_parameter(model, "norm.weight"));
  EXPECT_TRUE(has_parameter(model, "norm.bias"));
  const GradientCheck check = check_gradients(model, [&] { return sum(square(model.norm(Variable(x[0])))); });
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
