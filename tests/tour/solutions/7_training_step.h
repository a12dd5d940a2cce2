// Solutions of docs/tour/7_training_step.md.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "optim/optimizer.h"
#include "optim/step_control.h"
#include "tests/tour/character_model.h"

namespace rondo::tour {

/// 7.1: w and b after a step of SGD on (y - 3)^2 with y = w x + b, at x = 2.
inline std::pair<double, double> step_of_sgd(double w, double b, double rate) {
  const double error = w * 2 + b - 3;
  return {w - rate * 2 * error * 2, b - rate * 2 * error};
}

/// 7.2: scales the gradients, a vector, so that their norm is `largest`, if it is above that.
inline void clip(const Tensor& gradients, double largest) {
  double squares = 0;
  for (const real it : gradients.to_vector()) squares += it * it;
  const double scale = largest / std::sqrt(squares);
  real* g = gradients.mutable_data();
  for (int64_t i = 0; scale < 1 && i < gradients.size(); ++i) g[i] *= static_cast<real>(scale);
}

/// 7.3: trains the model on the text by Adam, and returns the loss before each update.
inline std::vector<double> train(CharacterModel& model, const std::vector<int32_t>& text, int updates) {
  const auto adam = make_optimizer({.kind = OptimizerKind::adam}, model.values(), model.gradients());
  std::vector<double> losses;
  for (int update = 0; update < updates; ++update) {
    adam->zero_gradients();
    const Variable loss = model.loss_of(text);
    losses.push_back(loss.value().item());
    loss.backward();
    clip_gradient_norm(model.gradients(), 1);
    adam->step(0.01);
  }
  return losses;
}

}  // namespace rondo::tour
