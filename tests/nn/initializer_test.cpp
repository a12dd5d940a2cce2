// Initial values: what each initialiser draws, and for whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/cells/join.h"
#include "nn/models/attentive_reader.h"
#include "nn/models/encoder_decoder.h"
#include "nn/models/language_model.h"
#include "nn/models/sentence_classifier.h"
#include "nn/models/skip_thought.h"
#include "tensor/products/precision.h"
#include "tests/nn/models/small_model.h"
#include "tests/nn/parameters.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;

struct Initial : Module {
  Initial(Shape shape, Initializer initializer) : parameter(*this, "p", shape, initializer) { finalize(5); }
  Numbers values() const { return parameter.variable().value().to_vector(); }
  Parameter parameter;
};

TEST(Initializer, LogNormalIsEToANormal) {
  const Numbers values = Initial({100, 100}, log_normal_values(0.5, 0.3)).values(),
                normal = Initial({100, 100}, normal_values(0.3)).values();
  double mean = 0, square = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_FLOAT_EQ(values[i], std::exp(0.5f + normal[i]));
    mean += values[i] / 1e4;
    square += double(values[i]) * values[i] / 1e4;
  }
  // Of a log-normal variable: e^(m + s^2 / 2), and (e^(s^2) - 1) of that squared.
  EXPECT_NEAR(mean, std::exp(0.5 + 0.045), 0.02);
  EXPECT_NEAR(square / (mean * mean) - 1, std::exp(0.09) - 1, 0.01);
}

TEST(Initializer, OfTheOutputSetsItsBiasToZeroAndLeavesTheRestAlone) {
  const LanguageModel plain(small(), 11);
  LanguageModelOptions options = small();
  options.output_init = {InitialValues::Kind::log_normal, 0.01};
  const LanguageModel model(options, 11);
  for (const Segment& segment : model.segments()) {
    const Numbers values = value_of(model, segment.name).to_vector();
    if (segment.name == "decoder.weight")
      for (const real value : values) ASSERT_NEAR(value, std::exp(1.0), 0.2);
    else if (segment.name == "decoder.bias")
      EXPECT_EQ(values, Numbers(11, 0));
    else
      EXPECT_EQ(values, value_of(plain, segment.name).to_vector()) << segment.name;
  }
  options.hidden = {5, 4};
  options.tied = true;
  EXPECT_NE(any_error_of([&] { LanguageModel(options, 11); }).find("model.output_init"), std::string::npos);
}

/// The deviation of the initial values of each table of symbols.
template <class Options, class Make>
void expect_chosen_embeddings(Options options, const Make& make) {
  const auto expect = [&](const InitialValues& values, double expected) {
    options.embedding = 50;
    options.embedding_init = values;
    const auto model = make(options);
    int tables = 0;
    for (const Segment& segment : model->segments()) {
      if (segment.name.find("embedding.weight") == std::string::npos) continue;
      double squares = 0;
      const Numbers all = value_of(*model, segment.name).to_vector();
      for (const real value : all) squares += double(value) * value;
      EXPECT_NEAR(std::sqrt(squares / static_cast<double>(all.size())), expected, 0.05 * expected)
          << segment.name;
      ++tables;
    }
    EXPECT_GT(tables, 0);
  };
  expect(Options().embedding_init, 0.1 / std::sqrt(3));
  expect({InitialValues::Kind::uniform, 0.6}, 0.6 / std::sqrt(3));
  expect({InitialValues::Kind::normal, 0.3}, 0.3);
  expect({InitialValues::Kind::pytorch, 0.3}, 1);
}

constexpr int64_t symbols = 200;

TEST(Initializer, OfEmbeddingsIsChosenInEveryModel) {
  expect_chosen_embeddings(LanguageModelOptions(),
                           [](const auto& it) { return std::make_unique<LanguageModel>(it, symbols); });
  expect_chosen_embeddings(EncoderDecoderOptions(), [](const auto& it) {
    return std::make_unique<EncoderDecoder>(it, symbols, symbols);
  });
  expect_chosen_embeddings(SentenceClassifierOptions(), [](const auto& it) {
    return std::make_unique<SentenceClassifier>(it, symbols, 2);
  });
  expect_chosen_embeddings(AttentiveReaderOptions(),
                           [](const auto& it) { return std::make_unique<AttentiveReader>(it, symbols, 3); });
  SkipThoughtOptions skip_thought;
  skip_thought.hidden = 20;
  expect_chosen_embeddings(skip_thought,
                           [](const auto& it) { return std::make_unique<SkipThought>(it, symbols); });
}

TEST(Initializer, OrthogonalWithinEachBlock) {
  const auto check = [](const std::vector<int64_t>& heights, int64_t columns) {
    const int64_t all = std::accumulate(heights.begin(), heights.end(), int64_t{0});
    const Numbers w = Initial({all, columns}, orthogonal_values().per_gate(heights)).values();
    const real* at = w.data();
    for (const int64_t rows : heights) {
      const bool tall = rows > columns;
      for (int64_t a = 0; a < std::min(rows, columns); ++a)
        for (int64_t b = 0; b <= a; ++b) {
          double inner = 0;
          for (int64_t i = 0; i < std::max(rows, columns); ++i)
            inner +=
                tall ? at[i * columns + a] * at[i * columns + b] : at[a * columns + i] * at[b * columns + i];
          ASSERT_NEAR(inner, a == b ? 1 : 0, 1e-5) << rows << "x" << columns;
        }
      EXPECT_TRUE(at == w.data() || *at != w[0]) << "two blocks are one";
      at += rows * columns;
    }
  };
  check({8, 8, 8, 8}, 8);
  check({5, 5, 5}, 9);
  check({9}, 5);
  check({2, 3}, 4);
  check({150, 150}, 150);  // more vectors than are treated at once
  {
    const WithPrecision rounded(Precision::bf16);  // of a training, not of its initial values
    check({150}, 150);
  }
  check({200}, 130);
  EXPECT_EQ(any_error_of([] {
              Initial({5, 4}, orthogonal_values().per_gate({2, 2}));
            }),
            "[orthogonal] [5, 4] does not split into 2 blocks of rows");
}

TEST(Initializer, PyTorchsBoundsAndTheForgetBias) {
  LanguageModelOptions options = small();
  const double bound = 1 / std::sqrt(5.0);
  const auto largest = [](const Tensor& x) {
    double most = 0;
    for (real value : x.to_vector()) most = std::max(most, std::abs(static_cast<double>(value)));
    return most;
  };
  {
    const LanguageModel model(options, 11);
    for (const char* name : {"rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0", "rnn.bias_hh_l0"}) {
      EXPECT_LE(largest(value_of(model, name)), bound) << name;
      EXPECT_GT(largest(value_of(model, name)), 0.7 * bound) << name;
    }
    EXPECT_LE(largest(value_of(model, "decoder.weight")), 1 / std::sqrt(6.0));
  }
  const LanguageModel plain(options, 11, 3);
  options.cell_settings.of<ForgetGateSettings>().forget_bias = 2;
  const LanguageModel biased(options, 11, 3);
  const Numbers before = value_of(plain, "rnn.bias_ih_l0").to_vector();
  const Numbers after = value_of(biased, "rnn.bias_ih_l0").to_vector();
  for (size_t i = 0; i < 20; ++i)  // gates are stacked i f g o
    EXPECT_FLOAT_EQ(after[i], before[i] + (5 <= i && i < 10 ? 2 : 0));
  EXPECT_EQ(value_of(plain, "rnn.bias_hh_l0").to_vector(), value_of(biased, "rnn.bias_hh_l0").to_vector());
}

TEST(Initializer, TheForgetBiasesOfTheFastSlowLstm) {
  LanguageModelOptions options = small("fs_lstm");
  options.hidden = {5};
  options.cell_settings.of<ForgetGateSettings>().forget_bias = 2;
  const LanguageModel model(options, 11);
  for (const char* name : {"rnn.bias_fast_1_l0", "rnn.bias_slow_l0", "rnn.bias_fast_2_l0"}) {
    const Numbers values = value_of(model, name).to_vector();
    ASSERT_EQ(values.size(), 20u) << name;
    for (size_t i = 0; i < 20; ++i)  // gates are stacked i f g o
      EXPECT_EQ(values[i], 5 <= i && i < 10 ? 2 : 0) << name;
  }
}

TEST(Initializer, OneForEveryParameter) {
  LanguageModelOptions options = small();
  options.init_all = 0.01;
  options.cell_settings.of<ForgetGateSettings>().forget_bias = 1;
  const LanguageModel model(options, 11);
  for (const Segment& segment : model.segments()) {
    const Numbers values = value_of(model, segment.name).to_vector();
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t H = segment.name.ends_with("_l0") ? 5 : 6;
      const bool forget = segment.name.find("bias_ih") != std::string::npos && H <= i && i < 2 * H;
      ASSERT_NEAR(values[i], forget ? 1 : 0, 0.01001) << segment.name;
    }
  }
}

TEST(Initializer, SeedsAndNamesTellDrawsApart) {
  const LanguageModel a(small(), 11, 1), again(small(), 11, 1), other(small(), 11, 2);
  EXPECT_EQ(a.values().to_vector(), again.values().to_vector());
  EXPECT_NE(a.values().to_vector(), other.values().to_vector());
  EXPECT_NE(value_of(a, "rnn.bias_ih_l0").to_vector(), value_of(a, "rnn.bias_hh_l0").to_vector());
}

}  // namespace
}  // namespace rondo
