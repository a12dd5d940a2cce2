// Solutions of docs/tour/6_training_step.md.
#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "autograd/operators.h"
#include "nn/layers/linear.h"
#include "optim/optimizer.h"
#include "optim/step_control.h"

namespace rondo {
namespace {

struct LineOfTheTour : Module {
  LineOfTheTour() { finalize(1); }
  Linear layer{*this, "layer", 1, 1};
};

/// The squared error of y = 3 at x = 2.
Variable squared_error_of(const LineOfTheTour& model) {
  const Variable error = model.layer(Tensor::filled({1, 1}, 2)) - Tensor::filled({1, 1}, 3);
  return sum(error * error);
}

TEST(Tour6, AStepOfSgdByHand) {
  const LineOfTheTour model;
  const real w = model.layer.weight.variable().value().item(), b = model.layer.bias.variable().value().item();
  const auto sgd = make_optimizer({.kind = OptimizerKind::sgd}, model.values(), model.gradients());
  sgd->zero_gradients();
  squared_error_of(model).backward();
  sgd->step(0.1);
  const real error = w * 2 + b - 3;  // the loss is error^2: dL/dw = 2 error x, dL/db = 2 error
  EXPECT_NEAR(model.layer.weight.variable().value().item(), w - 0.1 * 2 * error * 2, 1e-6);
  EXPECT_NEAR(model.layer.bias.variable().value().item(), b - 0.1 * 2 * error, 1e-6);
}

TEST(Tour6, ClippingKeepsTheDirection) {
  const Tensor gradients = Tensor::from({3, 4}, {2});
  EXPECT_DOUBLE_EQ(clip_gradient_norm(gradients, 10), 5);
  EXPECT_EQ(gradients.to_vector(), (std::vector<real>{3, 4}));  // short enough
  EXPECT_DOUBLE_EQ(clip_gradient_norm(gradients, 1), 5);
  EXPECT_NEAR(gradients.to_vector()[0], 0.6, 1e-6);
  EXPECT_NEAR(gradients.to_vector()[1], 0.8, 1e-6);
}

}  // namespace
}  // namespace rondo
