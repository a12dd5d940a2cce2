// Solutions of docs/tour/5_cell.md.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "nn/recurrent/recurrent_layer.h"

namespace rondo {
namespace {

struct OneLayer : Module {
  static constexpr int64_t I = 3, H = 2;
  OneLayer() { finalize(1); }
  RecurrentLayer layer{*this, "rnn", "_l0", pytorch_cell(I, H)};
};

TEST(Tour5, AStepByLoops) {
  OneLayer model;
  constexpr int64_t I = OneLayer::I, H = OneLayer::H;
  const auto parameter = [&](const std::string& name) {
    for (const Segment& it : model.segments())
      if (it.name == name) return part_of(model.values(), it).to_vector();
    throw Error("no parameter " + name);
  };
  const std::vector<real> x = {1, -2, 0.5}, h = {0.3, -0.7};
  const State state{Tensor::from(h, {1, H})};
  const std::vector<real> y = model.layer(Tensor::from(x, {1, 1, I}), state).output.value().to_vector();
  const std::vector<real> W = parameter("weight_ih_l0"), U = parameter("weight_hh_l0"),
                          b_ih = parameter("bias_ih_l0"), b_hh = parameter("bias_hh_l0");
  for (size_t j = 0; j < H; ++j) {
    double z = b_ih[j] + b_hh[j];
    for (size_t i = 0; i < I; ++i) z += W[j * I + i] * x[i];
    for (size_t i = 0; i < H; ++i) z += U[j * H + i] * h[i];
    EXPECT_NEAR(y[j], std::tanh(z), 1e-6);
  }
}

TEST(Tour5, AComplexStepLosesNoDigit) {
  const auto s = [](auto z) { return 1.0 / (1.0 + std::exp(-z)); };
  const double x = 0.3, exact = s(x) * (1 - s(x));
  const double by_complex_step = std::imag(s(std::complex(x, 1e-100))) / 1e-100;
  const auto error_of_differences = [&](double d) {
    return std::abs((s(x + d) - s(x - d)) / (2 * d) - exact);
  };
  EXPECT_NEAR(by_complex_step, exact, 1e-16);
  EXPECT_LT(error_of_differences(1e-4), 1e-9);  // 9 digits: the third derivative times d^2
  EXPECT_GT(error_of_differences(1e-4), 1e-11);
  EXPECT_LT(error_of_differences(1e-5), 1e-10);  // near the best, 11 digits
  EXPECT_LT(error_of_differences(1e-6), 1e-9);
  EXPECT_GT(error_of_differences(1e-12), 1e-7);  // 4 digits: rounding, 1e-16 / d
}

}  // namespace
}  // namespace rondo
