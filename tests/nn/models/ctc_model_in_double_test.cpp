// The recogniser and its gradients against plain loops written from its equations, which read each utterance
// alone, so that padding is seen to change nothing. Its loss: tests/autograd/ctc_loss_in_both_test.cpp.
#include "nn/models/ctc_model.h"

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "tests/nn/models/plain_model.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

constexpr int64_t F = 3, V = 4, B = 2;

CtcModelOptions options_of(const std::string& cell, bool bidirectional, int64_t layers) {
  CtcModelOptions options;
  set(options, "hidden=4 init_all=0.8");  // large enough that nothing is nearly linear
  options.cell = cell;
  options.layers = layers;
  options.bidirectional = bidirectional;
  return options;
}

const Lengths lengths = {6, 4};

/// Frames [6, B, F] without a pattern, between -1 and 1; behind the end of an utterance stands `padding`.
Variable frames_of(real padding) {
  std::vector<real> numbers;
  for (int64_t t = 0; t < 6; ++t)
    for (int64_t b = 0; b < B; ++b)
      for (int64_t f = 0; f < F; ++f)
        numbers.push_back(t < lengths[static_cast<size_t>(b)]
                              ? std::sin(static_cast<double>(31 * t + 17 * b + 7 * f + 1))
                              : padding);
  return Tensor::from(numbers, {6, B, F});
}

/// Of utterance b, at each of its frames.
Rows plain_scores(const CtcModelOptions& options, const Parameters& parameters, int64_t b) {
  const PlainModel model(parameters);
  Rows x;
  for (int64_t t = 0; t < lengths[static_cast<size_t>(b)]; ++t) {
    const std::vector<real> frame = frames_of(0).value()[t].slice_rows(b, b + 1).to_vector();
    x.emplace_back(frame.begin(), frame.end());
  }
  const PlainStack stack{"recurrent", options.cell, options.layers, options.hidden, options.bidirectional};
  Rows scores;
  for (const Vector& h : model.read(stack, x).first)
    scores.push_back(model.product("output.weight", h, "output.bias"));
  return scores;
}

TEST(CtcModel, IsThatOfPlainLoops) {
  for (CtcModelOptions options : {options_of("rnn", true, 2), options_of("gru", true, 2),
                                  options_of("mi_lstm", true, 1), options_of("lstm", false, 2)}) {
    SCOPED_TRACE(options.cell);
    options.trained_initial_states = options.cell == "lstm";
    CtcModel model(options, F, V);
    const Variable scores = model.scores(frames_of(5), lengths);
    EXPECT_EQ(scores.shape(), Shape({6, B, V}));
    std::vector<real> factors(6 * B * V);  // of the scores in a sum; none of what is padding
    const auto each = [&](const Parameters& parameters, const auto& take) {
      for (int64_t b = 0; b < B; ++b) {
        const Rows z = plain_scores(options, parameters, b);
        for (size_t t = 0; t < z.size(); ++t)
          for (size_t k = 0; k < V; ++k) take((t * B + static_cast<size_t>(b)) * V + k, z[t][k]);
      }
    };
    const std::vector<real> actual = scores.value().to_vector();
    each(parameters_of(model), [&](size_t i, const Number& z) {
      EXPECT_NEAR(actual[i], z.real(), 1e-12);
      factors[i] = std::cos(static_cast<double>(i));
    });
    expect_plain_loss(model, sum(scores * Variable(Tensor::from(factors, {6, B, V}))),
                      [&](const Parameters& moved) {
                        Number sum = 0;
                        each(moved, [&](size_t i, const Number& z) { sum += factors[i] * z; });
                        return sum;
                      });
  }
}

TEST(CtcModel, RefusesOptionsThatContradictEachOther) {
  CtcModelOptions odd = options_of("lstm", true, 1);
  odd.hidden = 5;
  expect_contains(error_of([&] { CtcModel(odd, F, V); }), "model.hidden = 5");
  odd.bidirectional = false;
  EXPECT_EQ(CtcModel(odd, F, V, 1, Device::meta).symbols(), V);
  expect_contains(error_of<Error>([&] { CtcModel(odd, F, 1); }), "1 symbols");
}

}  // namespace
}  // namespace rondo
