// Exercises of docs/tour/7_training_step.md.
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
  throw Error("exercise 7.1 is not written yet");
}

/// 7.2: scales the gradients, a vector, so that their norm is `largest`, if it is above that.
inline void clip(const Tensor& gradients, double largest) { throw Error("exercise 7.2 is not written yet"); }

/// 7.3: trains the model on the text by Adam, and returns the loss before each update.
inline std::vector<double> train(CharacterModel& model, const std::vector<int32_t>& text, int updates) {
  throw Error("exercise 7.3 is not written yet");
}

}  // namespace rondo::tour
