// The recogniser against plain loops written from its equations, its gradients, and padding.
#include "nn/models/ctc_model.h"

#include "autograd/functions.h"
#include "nn/gradient_check.h"
#include "tests/nn/models/plain_stack.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

constexpr int64_t F = 3, V = 4, B = 2;

CtcModelOptions options_of(const std::string& cell, bool bidirectional, int64_t layers) {
  CtcModelOptions options;
  options.cell = cell;
  options.hidden = 4;
  options.layers = layers;
  options.bidirectional = bidirectional;
  options.init_all = 0.8;  // large enough that nothing is nearly linear
  return options;
}

const Lengths lengths = {6, 4};
const CtcTargets targets({{1, 3, 3}, {2}}, lengths);

/// Without a pattern, between -1 and 1.
double frame_number(int64_t t, int64_t b, int64_t f) {
  return std::sin(static_cast<double>(31 * t + 17 * b + 7 * f + 1));
}

/// Frames [steps, B, F]; behind the end of an utterance stands `padding`.
Variable frames_of(int64_t steps, real padding) {
  std::vector<real> numbers;
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t b = 0; b < B; ++b)
      for (int64_t f = 0; f < F; ++f)
        numbers.push_back(t < lengths[static_cast<size_t>(b)] ? static_cast<real>(frame_number(t, b, f))
                                                              : padding);
  return Tensor::from(numbers, {steps, B, F});
}

TEST(CtcModel, IsThatOfPlainLoops) {
  for (const bool bidirectional : {false, true}) {
    CtcModel model(options_of("rnn", bidirectional, 2), F, V);
    const Weights weight{model};
    const Variable scores = model.scores(frames_of(6, 0), lengths);
    EXPECT_EQ(scores.shape(), Shape({6, B, V}));
    const std::vector<real> all = scores.value().to_vector();
    for (int64_t b = 0; b < B; ++b) {
      std::vector<Numbers> x;
      for (int64_t t = 0; t < lengths[static_cast<size_t>(b)]; ++t) {
        x.emplace_back();
        for (int64_t f = 0; f < F; ++f) x.back().push_back(frame_number(t, b, f));
      }
      const std::vector<Numbers> h = plain_stack(weight, model.options(), 2, x);
      for (size_t t = 0; t < h.size(); ++t)
        for (int64_t k = 0; k < V; ++k) {
          double z = weight("output.bias", 0, k);
          for (size_t j = 0; j < h[t].size(); ++j)
            z += weight("output.weight", k, static_cast<int64_t>(j)) * h[t][j];
          EXPECT_NEAR(all[(t * B + static_cast<size_t>(b)) * V + static_cast<size_t>(k)], z, 1e-12);
        }
    }
  }
}

TEST(CtcModel, GradientsOfAllParameters) {
  for (CtcModelOptions options :
       {options_of("gru", true, 2), options_of("mi_lstm", true, 1), options_of("lstm", false, 2)}) {
    options.trained_initial_states = options.cell == "lstm";
    CtcModel model(options, F, V);
    const GradientCheck result = check_gradients(
        model, [&] { return sum(ctc_loss(model.scores(frames_of(6, 0), lengths), targets)); });
    EXPECT_TRUE(result.passed) << options.cell << ": " << result.worst;
  }
}

// In the loss and in all gradients, while training with masks that are the same for all steps.
TEST(CtcModel, PaddingHasNoInfluence) {
  for (const bool trains : {false, true}) {
    CtcModelOptions options = options_of("lstm", true, 2);
    options.dropout = 0.3;
    options.variational = true;
    CtcModel model(options, F, V);
    model.set_training(trains);
    const auto gradients = [&](int64_t steps, real padding) {
      return gradients_and_loss(
          model, B, [&] { return sum(ctc_loss(model.scores(frames_of(steps, padding), lengths), targets)); });
    };
    const std::vector<real> once = gradients(6, 0), again = gradients(9, 5);
    for (size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(once[i], again[i], 1e-13);
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
