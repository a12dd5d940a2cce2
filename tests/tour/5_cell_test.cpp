// Grades the exercises of docs/tour/5_cell.md.
#include <5_cell.h>
#include <gtest/gtest.h>

#include "nn/recurrent/recurrent_layer.h"

namespace rondo::tour {

struct OneLayer : Module {
  static constexpr int64_t I = 3, H = 2;
  OneLayer() { finalize(1); }
  RecurrentLayer layer{*this, "rnn", "_l0", pytorch_cell(I, H)};
};

TEST(Tour5, AStepByLoops) {
  OneLayer model;
  constexpr int64_t I = OneLayer::I, H = OneLayer::H;
  const auto parameter = [&](const std::string& name) -> Numbers {
    for (const Segment& it : model.segments())
      if (it.name == name) {
        const std::vector<real> values = part_of(model.values(), it).to_vector();
        return {values.begin(), values.end()};
      }
    throw Error("no parameter " + name);
  };
  const std::vector<real> x = {1, -2, 0.5}, h = {0.3, -0.7};
  const State state{Tensor::from(h, {1, H})};
  const std::vector<real> y = model.layer(Tensor::from(x, {1, 1, I}), state).output.value().to_vector();
  const Numbers by_loops =
      rnn_step({x.begin(), x.end()}, {h.begin(), h.end()}, parameter("weight_ih_l0"),
               parameter("weight_hh_l0"), parameter("bias_ih_l0"), parameter("bias_hh_l0"));
  ASSERT_EQ(by_loops.size(), y.size());
  for (size_t j = 0; j < H; ++j) EXPECT_NEAR(by_loops[j], y[j], 1e-6);
}

TEST(Tour5, AComplexStepLosesNoDigit) {
  const auto s = [](auto z) { return 1.0 / (1.0 + std::exp(-z)); };
  const double exact = s(0.3) * (1 - s(0.3));
  EXPECT_NEAR(by_complex_step(s, 0.3), exact, 1e-16);
  const auto error = [&](double d) { return std::abs(by_central_differences(s, 0.3, d) - exact); };
  EXPECT_LT(error(1e-4), 1e-9);  // 9 digits: the third derivative times d^2
  EXPECT_GT(error(1e-4), 1e-11);
  EXPECT_LT(error(1e-5), 1e-10);  // near the best, 11 digits
  EXPECT_LT(error(1e-6), 1e-9);
  EXPECT_GT(error(1e-12), 1e-7);  // 4 digits: rounding, 1e-16 / d
}

}  // namespace rondo::tour
