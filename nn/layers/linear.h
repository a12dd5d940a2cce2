// Linear as a module. The mathematics is in autograd/linear.h.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "autograd/linear.h"
#include "nn/module.h"

namespace rondo {

/// y = x W^T + b. x [.., in], W [out, in], b [out].
struct Linear : Module {
  /// The initial values are `weights` and biases of 0; where none are given, those of PyTorch for both,
  /// U(-1/sqrt(in), 1/sqrt(in)).
  Linear(Module& parent, std::string name, int64_t in, int64_t out,
         const std::optional<Initializer>& weights = {})
      : Module(parent, std::move(name)),
        weight(*this, "weight", {out, in}, weights.value_or(uniform_values(1 / std::sqrt(in)))),
        bias(*this, "bias", {out}, weights ? constant_values(0) : uniform_values(1 / std::sqrt(in))) {}
  /// With the weight of another module: tied input and output embeddings (Press & Wolf 2017).
  Linear(Module& parent, std::string name, Parameter& tied, Initializer biases)
      : Module(parent, std::move(name)),
        weight(*this, "weight", tied),
        bias(*this, "bias", {tied.shape()[0]}, biases) {}

  Variable operator()(const Variable& x) const { return linear(x, weight, {bias}); }

  Parameter weight, bias;
};

}  // namespace rondo
