// Solutions of docs/tour/4_module.md.
#pragma once

#include "nn/layers/linear.h"
#include "optim/optimizer.h"

namespace rondo::tour {

/// 4.1: two layers, called "first" and "second", from I inputs to H and from H to O.
struct TwoLayers : Module {
  static constexpr int64_t I = 3, H = 5, O = 2;
  static constexpr int64_t predicted_parameter_count = H * I + H + O * H + O;
  TwoLayers() { finalize(1); }
  Variable operator()(const Variable& x) const { return second(first(x)); }
  Linear first{*this, "first", I, H};
  Linear second{*this, "second", H, O};
};

/// 4.2: a step of SGD that changes the second layer alone.
inline void train_second_layer(const TwoLayers& model, double rate) {
  make_optimizer({.kind = OptimizerKind::sgd}, model.second.range_of(model.values()),
                 model.second.range_of(model.gradients()))
      ->step(rate);
}

}  // namespace rondo::tour
