// Solutions of docs/tour/4_module.md.
#include <gtest/gtest.h>

#include "nn/layers/linear.h"
#include "optim/optimizer.h"

namespace rondo {
namespace {

struct TwoLayers : Module {
  static constexpr int64_t I = 3, H = 5, O = 2;
  TwoLayers() { finalize(1); }
  Variable operator()(const Variable& x) const { return second(first(x)); }
  Linear first{*this, "first", I, H};
  Linear second{*this, "second", H, O};
};

TEST(Tour4, AllWeightsAreOneBuffer) {
  const TwoLayers model;
  constexpr int64_t I = TwoLayers::I, H = TwoLayers::H, O = TwoLayers::O;
  EXPECT_EQ(model.parameter_count(), H * I + H + O * H + O);
  fill(model.values(), 0.5);  // also the gaps, which a real training keeps at zero
  // The hidden units of x = 0 are their biases, 0.5; an output adds 5 of them times 0.5, and its bias.
  const Variable y = model(Tensor::zeros({1, I}));
  EXPECT_EQ(y.value().to_vector(), std::vector<real>(O, H * 0.5 * 0.5 + 0.5));
}

struct TiedLayers : Module {
  static constexpr int64_t I = 3;
  TiedLayers() { finalize(1); }
  Linear first{*this, "first", I, I};
  Linear second{*this, "second", first.weight, constant_values(0)};
};

TEST(Tour4, ATiedWeightCountsOnce) {
  const TiedLayers model;
  EXPECT_EQ(model.parameter_count(), TiedLayers::I * TiedLayers::I + 2 * TiedLayers::I);
  EXPECT_TRUE(model.first.weight.variable().value().shares_memory(model.second.weight.variable().value()));
}

TEST(Tour4, AnOptimizerTrainsTheRangeThatItIsGiven) {
  const TwoLayers model;
  const std::vector<real> first = model.first.weight.variable().value().to_vector();
  const std::vector<real> second = model.second.weight.variable().value().to_vector();
  fill(model.gradients(), 1);
  const auto sgd = make_optimizer({.kind = OptimizerKind::sgd}, model.second.range_of(model.values()),
                                  model.second.range_of(model.gradients()));
  sgd->step(0.25);
  EXPECT_EQ(model.first.weight.variable().value().to_vector(), first);
  std::vector<real> expected = second;
  for (real& it : expected) it -= 0.25;
  EXPECT_EQ(model.second.weight.variable().value().to_vector(), expected);
}

TEST(Tour4, OfATiedLayerOnlyTheBiasIsItsOwn) {
  const TiedLayers model;
  const auto numbers = [](const Parameter& it) { return it.variable().value().to_vector(); };
  const std::vector<real> weight = numbers(model.first.weight), bias = numbers(model.first.bias);
  fill(model.gradients(), 1);
  const auto sgd = make_optimizer({.kind = OptimizerKind::sgd}, model.second.range_of(model.values()),
                                  model.second.range_of(model.gradients()));
  sgd->step(0.25);
  EXPECT_EQ(numbers(model.second.weight), weight);  // it lies in the range of `first`
  EXPECT_EQ(numbers(model.first.bias), bias);
  EXPECT_EQ(numbers(model.second.bias), std::vector<real>(TiedLayers::I, -0.25));
}

}  // namespace
}  // namespace rondo
