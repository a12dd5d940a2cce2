// Exercises of docs/tour/4_module.md.
#pragma once

#include "nn/layers/linear.h"
#include "optim/optimizer.h"

namespace rondo::tour {

/// 4.1: two layers, called "first" and "second", from I inputs to H and from H to O.
struct TwoLayers : Module {
  static constexpr int64_t I = 3, H = 5, O = 2;
  static constexpr int64_t predicted_parameter_count = 0;
  TwoLayers() { throw Error("exercise 4.1 is not written yet"); }
  Variable operator()(const Variable& x) const { throw Error("exercise 4.1 is not written yet"); }
};

/// 4.2: a step of SGD that changes the second layer alone.
inline void train_second_layer(const TwoLayers& model, double rate) {
  throw Error("exercise 4.2 is not written yet");
}

}  // namespace rondo::tour
