// Grades the exercises of docs/tour/7_training_step.md.
#include <7_training_step.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "autograd/operators.h"

namespace rondo::tour {

struct LineOfTheTour : Module {
  LineOfTheTour() { finalize(1); }
  Linear layer{*this, "layer", 1, 1};
};

TEST(Tour7, AStepOfSgdByHand) {
  const LineOfTheTour model;
  const auto number = [](const Parameter& it) { return it.variable().value().item(); };
  const auto [w, b] = step_of_sgd(number(model.layer.weight), number(model.layer.bias), 0.1);
  const auto sgd = make_optimizer({.kind = OptimizerKind::sgd}, model.values(), model.gradients());
  sgd->zero_gradients();
  const Variable error = model.layer(Tensor::filled({1, 1}, 2)) - Tensor::filled({1, 1}, 3);
  sum(error * error).backward();
  sgd->step(0.1);
  EXPECT_NEAR(w, number(model.layer.weight), 1e-6);
  EXPECT_NEAR(b, number(model.layer.bias), 1e-6);
}

TEST(Tour7, ClippingKeepsTheDirection) {
  const Tensor gradients = Tensor::from({3, 4}, {2});
  clip(gradients, 10);
  EXPECT_EQ(gradients.to_vector(), (std::vector<real>{3, 4}));  // short enough
  clip(gradients, 1);
  EXPECT_NEAR(gradients.to_vector()[0], 0.6, 1e-6);
  EXPECT_NEAR(gradients.to_vector()[1], 0.8, 1e-6);
}

// A symbol costs ln V at first, when all are equally likely; at the end the model knows the text by heart.
TEST(Tour7, ALossFalls) {
  const std::string line = "how much wood would a woodchuck chuck if a woodchuck could chuck wood";
  std::string symbols = line;
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  std::vector<int32_t> text;
  for (const char c : line) text.push_back(static_cast<int32_t>(symbols.find(c)));
  CharacterModel model(std::ssize(symbols));
  const std::vector<double> losses = train(model, text, 200);
  ASSERT_EQ(losses.size(), 200u);
  std::cout << "loss in nats at every 20th update:";
  for (size_t i = 0; i < losses.size(); i += 20) std::cout << " " << std::round(losses[i] * 100) / 100;
  std::cout << "\n";
  EXPECT_NEAR(losses.front(), std::log(symbols.size()), 0.3);
  EXPECT_LT(losses.back(), 0.1);
  EXPECT_LT(model.loss_of(text).value().item(), 0.1);
}

}  // namespace rondo::tour
